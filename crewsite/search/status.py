"""What status pages and `crew status` say about the index. Counts everything, so it is not for use in a
search.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from crewsite.embeddings.service import embedder_status
from crewsite.embeddings.spaces import active_space
from crewsite.search.backfill import documents_without_vector
from crewsite.search.documents import folded_otherwise
from crewsite.search.keyword import keyword_index
from crewsite.search.models import Document


def search_status() -> dict[str, Any]:
    """`state` is ready, behind (documents without a vector) or keyword_only (no model yet); `lag` counts the
    documents.
    """
    space = active_space()
    documents = Document.objects.count()
    lag = documents if space is None else documents_without_vector(space).count()
    keyword = keyword_index()
    in_step = keyword.is_in_step() and not folded_otherwise().exists()
    degraded = []
    embedder = embedder_status().state
    if embedder != "ready":
        degraded.append("embedder_loading" if embedder == "loading" else "embedder_unavailable")
    if find_spec("faiss") is None:
        degraded.append("faiss_unavailable")
    if lag:
        degraded.append("index_behind")
    if not in_step:
        degraded.append("keyword_index_behind")
    return {
        "state": "keyword_only" if space is None else "behind" if lag else "ready",
        "engine": "faiss" if find_spec("faiss") is not None else "numpy",
        "keyword_engine": keyword.engine,
        "model_id": space.model_id if space is not None else "",
        "documents": documents,
        "vectors": documents - lag,
        "lag": lag,
        "degraded": degraded,
    }

"""Which hits of a search are worth showing where no model reads them first: a nearest row is always found,
and for "hello" it says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crewsite.embeddings.service import embed_documents, embed_query, get_embedder
from memory.constants import thresholds_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crewsite.search.recall import RecallHit


def worth_showing(query: str, hits: Sequence[RecallHit]) -> list[RecallHit]:
    """Those with a word of the question, and those as near to it as what a prompt is given must be."""
    distant = [hit for hit in hits if "keyword" not in hit.legs]
    near = _near(query, distant)
    return [hit for hit in hits if hit not in distant or hit in near]


def _near(query: str, hits: Sequence[RecallHit]) -> list[RecallHit]:
    asked = embed_query(query) if hits else None
    if asked is None:
        return []
    floor = thresholds_for(get_embedder().model_id).relevance
    vectors = embed_documents([hit.text for hit in hits])
    return [
        hit
        for hit, said in zip(hits, vectors, strict=True)
        if said is not None and float(asked.vector @ said.vector) >= floor
    ]

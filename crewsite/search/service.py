"""The one way to search and to keep what is searched. No other app touches FTS tables, faiss or their
files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from crewsite.search.results import Candidates, Hit, Mode

if TYPE_CHECKING:
    from crewsite.embeddings.service import Embedding


__all__ = [
    "Candidates",
    "Hit",
    "Mode",
    "candidates",
    "document_delete",
    "document_put",
    "documents_delete_many",
    "documents_put_many",
    "nearest",
    "search_status",
]


def document_put(*, collection: str, object_id: int, text: str, embedding: Embedding | None = None) -> None:
    """Make an object's text findable, in the caller's transaction.

    With an embedding it can be found by meaning at once; without one, or with one of another model, the
    backfill adds it. A vector made from an older text is dropped.
    """
    from crewsite.search import documents

    documents.put_many(collection, [(object_id, text, embedding)])


def documents_put_many(
    *, collection: str, items: Sequence[tuple[int, str] | tuple[int, str, Embedding | None]]
) -> None:
    """`document_put` for many objects of one collection: (object id, text) or (object id, text,
    embedding).
    """
    from crewsite.search import documents

    documents.put_many(collection, items)


def document_delete(*, collection: str, object_id: int) -> None:
    """Take an object out of every index, in the caller's transaction. Unknown objects are no error."""
    from crewsite.search import documents

    documents.delete_many(collection, [object_id])


def documents_delete_many(*, collection: str, object_ids: Sequence[int]) -> None:
    """`document_delete` for many objects of one collection."""
    from crewsite.search import documents

    documents.delete_many(collection, object_ids)


def candidates(
    *,
    collection: str,
    query: str,
    k: int,
    mode: Mode = "auto",
    embedding: Embedding | None = None,
    lag: int = 0,
) -> Candidates:
    """Up to `k` hits of each leg in one collection, never of another. Any text is a question; blanks find
    nothing.

    `embedding` saves embedding the question again. Rows must be read by the caller: an index may be a moment
    behind. `lag` documents without a vector are in order where texts are embedded in the background.
    """
    from crewsite.search import legs

    return legs.candidates(collection=collection, query=query, k=k, mode=mode, embedding=embedding, lag=lag)


def nearest(*, collection: str, embedding: Embedding, k: int) -> list[tuple[int, float]]:
    """The `k` nearest objects as (object id, cosine), nearest first. Inside a transaction its own writes
    count.
    """
    from crewsite.search import legs

    return legs.nearest(collection=collection, embedding=embedding, k=k)


def search_status() -> dict[str, Any]:
    """State of the indexes for status pages: state, engines, documents, vectors, lag, and what is
    degraded.
    """
    from crewsite.search import status

    return status.search_status()

"""The keyword leg: what every keyword index offers, and which one this database gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from django.db import connection

if TYPE_CHECKING:
    from crewsite.search.keyword.scoring import TermTable
    from crewsite.search.models import Document


class KeywordHit(NamedTuple):
    """`score` is a BM25 score, above 0. `all_terms`: the document has every term of the question."""

    object_id: int
    score: float
    all_terms: bool


@dataclass(frozen=True, slots=True)
class KeywordAnswer:
    """Best first: documents with all terms, then the others. `degraded` tells that the index was found
    broken: `keyword_index_rebuilt`, or `keyword_index_broken` when it could not be made anew and the texts
    were read. `terms` tells of any other object which terms it has.
    """

    hits: tuple[KeywordHit, ...] = ()
    degraded: tuple[str, ...] = ()
    terms: TermTable | None = None


class KeywordIndex(Protocol):
    """Writes happen in the transaction that writes the documents. Search never raises for any question."""

    engine: str

    def search(self, *, collection: str, query: str, k: int) -> KeywordAnswer: ...

    def replace(self, *, removed: Sequence[Document], added: Sequence[Document]) -> None:
        """Take out documents, given exactly as they were put in, and put in others. The documents' own rows
        are written before, so that an index found broken can be made anew from them."""
        ...

    def is_in_step(self) -> bool:
        """Whether the index holds as many rows as there are documents."""
        ...

    def rebuild(self) -> None:
        """Make the index anew from the documents."""
        ...

    def merge(self) -> None:
        """Join what single writes leave in pieces, so that reads stay fast. Background work."""
        ...


def keyword_index() -> KeywordIndex:
    if connection.vendor == "sqlite":
        from crewsite.search.keyword.fts5 import Fts5Index

        return Fts5Index()
    from crewsite.search.keyword.portable import PortableIndex

    return PortableIndex()

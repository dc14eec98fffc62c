"""What a search answers: plain values that selectors rank and rows are fetched for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from crewsite.search.evidence import Evidence

Mode = Literal["auto", "keyword", "vector"]
Rung = Literal["faiss", "numpy", "keyword"]


class Hit(NamedTuple):
    """One object that a leg found.

    `cosine` is filled for every hit that has a vector, when the question was embedded. `keyword` is the BM25
    score as a share of the best one, None when the keyword leg did not find it. `all_terms`: it has every
    term asked for.
    """

    object_id: int
    cosine: float | None = None
    keyword: float | None = None
    all_terms: bool = False

    @property
    def legs(self) -> tuple[str, ...]:
        """The legs that found it."""
        by_meaning = ("vector",) if self.cosine is not None else ()
        return (*by_meaning, "keyword") if self.keyword is not None else by_meaning


@dataclass(frozen=True, slots=True)
class Candidates:
    """Hits of one collection, the rung of the fallback ladder that the vector leg stood on, and what was not
    right. `evidence` tells how the question fits any other object of the collection.
    """

    hits: tuple[Hit, ...] = ()
    rung: Rung = "keyword"
    degraded: tuple[str, ...] = ()
    evidence: Evidence | None = None

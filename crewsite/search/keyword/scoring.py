"""Weighing keyword hits by the terms they have, over the postings of one collection. Pure; where postings
come from is the index's matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crewsite.search.keyword import KeywordHit

if TYPE_CHECKING:
    from crewsite.search.words import Term

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Posting:
    """Objects that have a term, ascending and each once, and how many of the collection have it."""

    term: Term
    ids: Ids
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class TermTable:
    """Which objects have which terms of a question, and what each term weighs.

    Of a common term only the objects that a rarer one found are known, where there were enough of them.
    """

    postings: tuple[Posting, ...] = ()
    weights: Scores = field(default_factory=lambda: np.empty(0))

    def held_by(self, ids: Ids) -> Flags:
        """`(objects, terms)`: whether an object has a term."""
        if not self.postings:
            return np.zeros((len(ids), 0), dtype=np.bool_)
        return np.stack([_members(posting.ids, ids) for posting in self.postings], axis=1)


def idf(count: int, total: int) -> float:
    """Inverse document frequency of BM25, never negative."""
    return math.log(1.0 + (max(total, count) - count + 0.5) / (count + 0.5))


def term_table(postings: Sequence[Posting], *, total: int) -> TermTable:
    weights = [posting.term.weight * idf(posting.count, total) for posting in postings]
    return TermTable(tuple(postings), np.array(weights))


def rank(table: TermTable, *, asked: int, k: int) -> list[KeywordHit]:
    """The `k` best by the sum of their terms' weights, so those with all `asked` terms first; newer first on
    a tie.

    BM25 with k1 = 0, the binary independence model (Robertson and Spaerck Jones 1976): how often a short text
    has a word, and how long it is, says nothing of what it is about (`python -m bench locomo`, keyword only:
    turn R@5 0.560, with k1 = 1.2 and b = 0.75 0.527).
    """
    ids, scores, having_terms = _summed(table)
    complete = having_terms >= asked
    order = _order(scores, complete, k)
    found = zip(ids[order].tolist(), scores[order].tolist(), complete[order].tolist(), strict=True)
    return [KeywordHit(*hit) for hit in found]


def _summed(table: TermTable) -> tuple[Ids, Scores, Ids]:
    """Ids ascending and each once, the sum of the weights of their terms, and how many terms they have."""
    joined = np.concatenate([posting.ids for posting in table.postings])
    spread = np.repeat(table.weights, [len(posting.ids) for posting in table.postings])
    # Stable, because that sort merges runs which are in order already: half the time of `np.unique`.
    order = np.argsort(joined, kind="stable")
    ordered = joined[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    scores: Scores = np.add.reduceat(spread[order], starts)
    return ordered[starts], scores, np.diff(np.append(starts, len(ordered)))


def _order(scores: Scores, complete: NDArray[np.bool_], k: int) -> NDArray[np.intp]:
    """Places of the `k` best, best first; ids ascend with their places, so the later of two equals comes
    first."""
    raised = scores + complete * (scores.max() + 1.0)
    places = np.arange(len(raised))
    if k < len(raised):
        places = np.flatnonzero(raised >= np.partition(raised, -k)[-k])
    backwards = places[::-1]
    order: NDArray[np.intp] = backwards[np.argsort(-raised[backwards], kind="stable")][:k]
    return order


def _members(ids: Ids, asked: Ids) -> NDArray[np.bool_]:
    if not len(ids):
        return np.zeros(len(asked), dtype=np.bool_)
    places = np.minimum(np.searchsorted(ids, asked), len(ids) - 1)
    found: NDArray[np.bool_] = ids[places] == asked
    return found

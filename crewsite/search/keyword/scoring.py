"""BM25 over postings of one collection. Pure; where postings and texts come from is the index's matter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from crewsite.search.constants import BM25_B, BM25_K1, RESCORED_MAX
from crewsite.search.keyword import KeywordHit
from crewsite.search.words import Term, stem_prefix

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]
# Of some objects: text and length as a multiple of the mean. Objects that are gone are left out.
Texts = Mapping[int, tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Posting:
    """Objects that have a term, ascending and each once, and how many of the collection have it."""

    term: Term
    ids: Ids
    count: int


def idf(count: int, total: int) -> float:
    """Inverse document frequency of BM25, never negative."""
    return math.log(1.0 + (max(total, count) - count + 0.5) / (count + 0.5))


def rank(
    postings: Sequence[Posting], *, asked: int, total: int, k: int, fetch: Callable[[list[int]], Texts]
) -> list[KeywordHit]:
    """The `k` best, those with all `asked` terms first, newer first on a tie.

    Everything is scored by the sum of its term weights; the best of that also by term frequency and length.
    """
    weights = [posting.term.weight * idf(posting.count, total) for posting in postings]
    ids, scores, having_terms = _summed(postings, weights)
    complete = having_terms >= asked
    # What is rescored may sink; at most that many others come up for it.
    ranked = _order(scores, complete, k + RESCORED_MAX)
    best = ranked[:RESCORED_MAX]
    having = np.stack([_members(posting.ids, ids[best]) for posting in postings], axis=1)
    terms = list(zip(weights, [needle(posting.term) for posting in postings], strict=True))
    texts = fetch(ids[best].tolist())
    for place, object_id, has in zip(best.tolist(), ids[best].tolist(), having.tolist(), strict=True):
        if object_id in texts:
            scores[place] = _bm25(*texts[object_id], list(compress(terms, has)))
    ranked.sort()
    order = ranked[_order(scores[ranked], complete[ranked], k)]
    found = zip(ids[order].tolist(), scores[order].tolist(), complete[order].tolist(), strict=True)
    return [KeywordHit(*hit) for hit in found]


def _summed(postings: Sequence[Posting], weights: Sequence[float]) -> tuple[Ids, Scores, Ids]:
    """Ids ascending and each once, the sum of the weights of their terms, and how many terms they have."""
    joined = np.concatenate([posting.ids for posting in postings])
    spread = np.repeat(np.asarray(weights), [len(posting.ids) for posting in postings])
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


def _bm25(text: str, length: float, terms: Sequence[tuple[float, str]]) -> float:
    """Score of a text known to have these terms, given as weight and what to count."""
    folded = f" {text.casefold()}"
    normal = BM25_K1 * (1.0 - BM25_B + BM25_B * length)
    score = 0.0
    for weight, part in terms:
        often = folded.count(part) or 1
        score += weight * often * (BM25_K1 + 1.0) / (often + normal)
    return score


def needle(term: Term) -> str:
    """What is counted in a folded text to see how often it has a term; the index itself only tells
    whether.
    """
    return f" {stem_prefix(term.text)}" if term.kind == "word" else term.text.casefold()


def _members(ids: Ids, asked: Ids) -> NDArray[np.bool_]:
    if not len(ids):
        return np.zeros(len(asked), dtype=np.bool_)
    places = np.minimum(np.searchsorted(ids, asked), len(ids) - 1)
    found: NDArray[np.bool_] = ids[places] == asked
    return found

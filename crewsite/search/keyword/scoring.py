"""BM25 over postings of one collection. Pure; where postings and texts come from is the index's matter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crewsite.search.constants import BM25_B, BM25_K1, RESCORED_MAX
from crewsite.search.keyword import KeywordHit
from crewsite.search.words import Term, stem_prefix

Ids = NDArray[np.int64]
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
    spread = np.repeat(np.asarray(weights), [len(posting.ids) for posting in postings])
    ids, places = np.unique(np.concatenate([posting.ids for posting in postings]), return_inverse=True)
    scores = np.bincount(places, weights=spread)
    complete = np.bincount(places) >= asked
    best = np.lexsort((-ids, -scores, ~complete))[:RESCORED_MAX]
    _rescore(scores, best, ids, postings, weights, fetch)
    order = np.lexsort((-ids, -scores, ~complete))[:k]
    return [KeywordHit(int(ids[i]), float(scores[i]), bool(complete[i])) for i in order]


def _rescore(
    scores: NDArray[np.float64],
    best: NDArray[np.int64],
    ids: Ids,
    postings: Sequence[Posting],
    weights: Sequence[float],
    fetch: Callable[[list[int]], Texts],
) -> None:
    texts = fetch([int(object_id) for object_id in ids[best]])
    needles = [needle(posting.term) for posting in postings]
    having = np.stack([_members(posting.ids, ids[best]) for posting in postings], axis=1).tolist()
    for place, object_id, has in zip(best.tolist(), ids[best].tolist(), having, strict=True):
        text, length = texts.get(object_id, ("", 1.0))
        folded = f" {text.casefold()}"
        normal = BM25_K1 * (1.0 - BM25_B + BM25_B * length)
        score = 0.0
        for known, weight, part in zip(has, weights, needles, strict=True):
            if known:
                often = folded.count(part) or 1
                score += weight * often * (BM25_K1 + 1.0) / (often + normal)
        scores[place] = score


def needle(term: Term) -> str:
    """What is counted in a folded text to see how often it has a term; the index itself only tells whether."""
    return f" {stem_prefix(term.text)}" if term.kind == "word" else term.text.casefold()


def _members(ids: Ids, asked: Ids) -> NDArray[np.bool_]:
    if not len(ids):
        return np.zeros(len(asked), dtype=np.bool_)
    places = np.minimum(np.searchsorted(ids, asked), len(ids) - 1)
    return ids[places] == asked

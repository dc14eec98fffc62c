"""How legs are put together and answers made diverse. Pure functions; what a leg is and where rows live is
left out.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from crewsite.search.constants import MMR_LAMBDA, RRF_K

__all__ = ["mmr_jaccard", "rrf", "scale01", "weighted"]

K = TypeVar("K", bound=Hashable)


def scale01(scores: Mapping[K, float]) -> dict[K, float]:
    """Scores moved onto 0..1 within their set, worst to best. A set of equal scores is all 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def weighted(legs: Sequence[tuple[float, Mapping[K, float]]]) -> dict[K, float]:
    """Weighted mean of legs; what a leg did not find counts 0 there. Weights need not add up to 1."""
    total = sum(weight for weight, _ in legs)
    fused: dict[K, float] = {}
    for weight, scores in legs:
        for key, score in scores.items():
            fused[key] = fused.get(key, 0.0) + weight * score / total
    return fused


def rrf(rankings: Sequence[Sequence[K]], *, k: int = RRF_K) -> dict[K, float]:
    """Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009): the sum of 1 / (k + rank), ranks from
    1.
    """
    fused: dict[K, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            fused[key] = fused.get(key, 0.0) + 1.0 / (k + rank)
    return fused


def mmr_jaccard(
    items: Sequence[K],
    *,
    relevance: Mapping[K, float],
    words: Mapping[K, frozenset[str]],
    lam: float = MMR_LAMBDA,
    limit: int,
) -> list[K]:
    """Maximal marginal relevance over word sets: `lam` x relevance - (1 - `lam`) x likeness to the nearest
    pick.

    The first of `items` is always picked first; ties go to the earlier item. A gain only ever falls as picks
    are added, so an item's gain is worked out anew only when it comes to the top of the heap.
    """
    if not items or limit <= 0:
        return []
    picked = [items[0]]
    said = [words[items[0]]]
    nearest = [0.0] * len(items)
    compared = [0] * len(items)
    heap = [(-lam * relevance[key], index) for index, key in enumerate(items)][1:]
    heapq.heapify(heap)
    while heap and len(picked) < limit:
        _, index = heap[0]
        key = items[index]
        if compared[index] == len(picked):
            heapq.heappop(heap)
            picked.append(key)
            said.append(words[key])
            continue
        mine, likest = words[key], nearest[index]
        for other in said[compared[index] :]:  # Jaccard, without a call for each of a hundred pairs
            shared = len(mine & other)
            if shared and (likeness := shared / (len(mine) + len(other) - shared)) > likest:
                likest = likeness
        nearest[index] = likest
        compared[index] = len(picked)
        heapq.heapreplace(heap, (-(lam * relevance[key] - (1.0 - lam) * nearest[index]), index))
    return picked

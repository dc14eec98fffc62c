"""The order of episodes: score, admission, recall guard and diversity (chapter 02, 2.4).
Pure: values in, values out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from crewsite.search.fusion import mmr_jaccard, scale01, weighted, word_set
from memory.constants import (
    DECAY_PER_DAY,
    GUARDED_HITS,
    IMPORTANCE_BASE,
    IMPORTANCE_SHARE,
    KEYWORD_AS_COSINE,
    KEYWORD_RUNG_MIN_OVERLAP,
    KEYWORD_WEIGHT,
    LONG_TEXT_CHARS,
    MAX_POOL,
    MIN_COSINE,
    MIN_POOL,
    MMR_LAMBDA,
    POOL_PER_HIT,
    VECTOR_WEIGHT,
    Thresholds,
)

Order = Literal["score", "relevance"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One episode that a leg found. `cosine` is raw, `keyword` scaled 0..1 within the set;
    None: not found by that leg.
    """

    object_id: int
    text: str
    importance: float = 0.5
    days_old: float = 0.0
    rate: float = DECAY_PER_DAY
    cosine: float | None = None
    keyword: float | None = None
    all_terms: bool = False


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place in the answer. `guarded`: its age alone would have cost it the place."""

    object_id: int
    score: float
    guarded: bool = False


def pool_size(limit: int) -> int:
    """How many candidates each leg is asked for."""
    return min(MAX_POOL, max(MIN_POOL, POOL_PER_HIT * limit))


def log_score(candidate: Candidate) -> float:
    """ln(cosine x (0.7 + 0.3 x importance) x exp(-rate x days)).
    As a logarithm no age is old enough to become 0.
    """
    cosine = candidate.cosine
    if cosine is None:
        cosine = (candidate.keyword or 0.0) * KEYWORD_AS_COSINE
    weight = IMPORTANCE_BASE + IMPORTANCE_SHARE * candidate.importance
    return (
        math.log(max(cosine, MIN_COSINE)) + math.log(weight) - candidate.rate * max(0.0, candidate.days_old)
    )


def relevance(candidates: Sequence[Candidate]) -> dict[int, float]:
    """0..1 by id: 0.6 of the vector leg and 0.4 of the keyword leg, each scaled within the set;
    a lone leg counts whole.
    """
    cosines = {c.object_id: c.cosine for c in candidates if c.cosine is not None}
    keywords = {c.object_id: c.keyword for c in candidates if c.keyword is not None}
    legs = [(VECTOR_WEIGHT, scale01(cosines)), (KEYWORD_WEIGHT, keywords)]
    fused = weighted([leg for leg in legs if leg[1]])
    return {c.object_id: fused.get(c.object_id, 0.0) for c in candidates}


def decay_rate(tags: Iterable[str], rates: Mapping[str, float]) -> float:
    """The slowest rate that a tag sets, else the default."""
    return min((rates[tag] for tag in tags if tag in rates), default=DECAY_PER_DAY)


def is_admitted(
    candidate: Candidate, *, limits: Thresholds, has_vectors: bool, overlap: Callable[[str], float]
) -> bool:
    """Near enough by raw cosine, or found with all its words. Neither age nor importance plays a part.

    Without any vectors in the answer, `overlap` (share of the question's words in a text) decides.
    """
    if candidate.all_terms:
        return True
    if not has_vectors:
        return overlap(candidate.text) >= KEYWORD_RUNG_MIN_OVERLAP
    floor = limits.relevance_long if len(candidate.text) > LONG_TEXT_CHARS else limits.relevance
    return candidate.cosine is not None and candidate.cosine >= floor


def rank(candidates: Sequence[Candidate], *, order: Order, limit: int, mmr: bool = True) -> list[Ranked]:
    """The best `limit` of all candidates, best first;
    with `mmr` a later place goes to what the earlier ones do not say.
    """
    if limit <= 0 or not candidates:
        return []
    relevances = relevance(candidates)
    places = {c.object_id: log_score(c) for c in candidates} if order == "score" else relevances
    scores = _as_share_of_best(places) if order == "score" else relevances
    ordered = sorted(
        candidates, key=lambda c: (-places[c.object_id], -relevances[c.object_id], c.days_old, -c.object_id)
    )
    picked = _diverse(ordered, scores, limit) if mmr else [c.object_id for c in ordered[:limit]]
    guards = _guards(ordered, relevances, limit)
    missing = [pk for pk in guards if pk not in picked]
    if missing:
        kept = [pk for pk in picked if pk in guards]
        room = limit - len(kept) - len(missing)
        others = [pk for pk in picked if pk not in guards][:room]
        picked = [pk for pk in picked if pk in guards or pk in others] + missing
    return [Ranked(pk, scores[pk], pk in missing) for pk in picked]


def _as_share_of_best(logs: Mapping[int, float]) -> dict[int, float]:
    """Scores relative to the best one, 0..1: for showing and for diversity.
    The order itself is taken from the logarithms.
    """
    best = max(logs.values())
    return {pk: math.exp(value - best) for pk, value in logs.items()}


def _diverse(ordered: Sequence[Candidate], scores: Mapping[int, float], limit: int) -> list[int]:
    ids = [candidate.object_id for candidate in ordered]
    words = _WordSets({candidate.object_id: candidate.text for candidate in ordered})
    return list(mmr_jaccard(ids, relevance=scores, words=words, lam=MMR_LAMBDA, limit=limit))


class _WordSets(dict[int, frozenset[str]]):
    """Word sets of texts, made when they are asked for: most rows of a pool never come near a place."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        self._texts = texts

    def __missing__(self, object_id: int) -> frozenset[str]:
        found = self[object_id] = word_set(self._texts[object_id])
        return found


def _guards(ordered: Sequence[Candidate], relevances: Mapping[int, float], limit: int) -> list[int]:
    """The most relevant rows, which keep a place whatever their age (measured, chapter 14)."""
    best = sorted(ordered, key=lambda candidate: -relevances[candidate.object_id])
    return [candidate.object_id for candidate in best[: min(GUARDED_HITS, limit)]]

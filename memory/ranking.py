"""The order of episodes: relevance with their neighbourhood, age, admission, recall guard and diversity
(chapters 02, 2.4 and 03, 3.6). Pure: columns in, places out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from crewsite.search.fusion import mmr_jaccard
from crewsite.search.words import has_unspaced, word_set
from memory.changes import is_placed
from memory.constants import (
    AGE_FLOOR,
    DATE_BONUS,
    DECAY_PER_DAY,
    GUARDED_HITS,
    IMPORTANCE_BASE,
    IMPORTANCE_SHARE,
    KEYWORD_RUNG_MIN_OVERLAP,
    LONG_TEXT_CHARS,
    MAX_POOL,
    MIN_POOL,
    MMR_LAMBDA,
    POOL_PER_HIT,
    SESSION_BEST_ROWS,
    SESSION_SHARE,
    SPEAKER_BONUS,
    TURN_VECTOR_WEIGHT,
    TURN_WORDS_WEIGHT,
    WINDOW_VECTOR_WEIGHT,
    WINDOW_WORDS_WEIGHT,
    Thresholds,
)
from memory.supersession import newer_first, newer_rows, with_newer

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Texts = NDArray[np.object_]

# Of the columns of `relevance`, in their order.
_PARTS: Final = np.array([TURN_VECTOR_WEIGHT, WINDOW_VECTOR_WEIGHT, TURN_WORDS_WEIGHT, WINDOW_WORDS_WEIGHT])
_FULL_MARKS: Final = (1.0 + SPEAKER_BONUS + DATE_BONUS) * (1.0 + SESSION_SHARE)


class Profile(Enum):
    """What a search is for."""

    EXPLICIT = "a question that somebody asks: relevance alone"
    INJECTION = "a prompt: importance and age weigh too"


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The candidates of one search, a column for each thing that ranking looks at, all of one length.

    `cosine` and `window_cosine` are raw, NaN without a vector. `words` is the weight of the question's terms
    that a row has, `window_words` that of the rows around it, `words_share` the part of the terms in it,
    0..1. `session`: rows of one number belong to one conversation. `named`: the question names its speaker;
    `dated`: the question names its time. `supersedes`: the id of the row it may replace, or 0. `asked_for`:
    the question asks for this row, and not for what may replace it.
    """

    ids: Ids
    cosine: Floats
    words: Floats
    words_share: Floats
    window_cosine: Floats
    window_words: Floats
    session: Ids
    named: Flags
    dated: Flags
    importance: Floats
    days_old: Floats
    rate: Floats
    text: Texts
    supersedes: Ids
    asked_for: Flags

    def __len__(self) -> int:
        return len(self.ids)

    def only(self, kept: Flags) -> Pool:
        return Pool(*(getattr(self, field.name)[kept] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place in the answer. `guarded`: without the guard it would not have got it."""

    object_id: int
    score: float
    guarded: bool = False


def pool_size(limit: int) -> int:
    """How many candidates each leg is asked for."""
    return min(MAX_POOL, max(MIN_POOL, POOL_PER_HIT * limit))


def relevance(pool: Pool) -> Floats:
    """0..1: what a row says and what is said around it, by meaning and by words, each scaled within the pool;
    a bonus for a named speaker and a named time; then a share of the strength of its conversation.

    What no row of the pool has (no words found) or a row has not yet (a vector) is left out, and the rest
    counts whole: a row that waits for its vector is not worse than one whose vector says nothing.
    """
    if not len(pool):
        return np.zeros(0)
    columns = np.stack([pool.cosine, pool.window_cosine, pool.words, pool.window_words])
    columns[2:][~columns[2:].any(axis=1)] = np.nan
    known = ~np.isnan(columns)
    own = _PARTS @ np.where(known, _scaled(columns, known), 0.0)
    total = _PARTS @ known
    own = own / np.where(total > 0.0, total, 1.0)
    own += SPEAKER_BONUS * pool.named + DATE_BONUS * pool.dated
    strengths: Floats = (own + SESSION_SHARE * _session_strength(own, pool.session)) / _FULL_MARKS
    return strengths


def score(pool: Pool, relevances: Floats) -> Floats:
    """relevance x (0.7 + 0.3 x importance) x (floor + (1 - floor) x exp(-rate x days old))."""
    faded = np.exp(-pool.rate * np.maximum(pool.days_old, 0.0))
    weight = IMPORTANCE_BASE + IMPORTANCE_SHARE * pool.importance
    weighted: Floats = relevances * weight * (AGE_FLOOR + (1.0 - AGE_FLOOR) * faded)
    return weighted


def decay_rate(tags: Iterable[str], rates: Mapping[str, float]) -> float:
    """The slowest rate that a tag sets, else the default."""
    return min((rates[tag] for tag in tags if tag in rates), default=DECAY_PER_DAY)


def admitted(pool: Pool, limits: Thresholds, *, question: str) -> Flags:
    """Rows near enough by raw cosine, or with all words of the question. Neither age nor importance plays a
    part.

    A row that may replace an admitted one comes with it: what is over must not be told alone.

    Without any vector in the pool, or with a model that places the question's script by accident, half of the
    words must be there; in a script without spaces half of its pairs of characters.
    """
    if np.isnan(pool.cosine).all() or not is_placed(question, limits):
        share = np.maximum(pool.words_share, _pairs_share(question, pool.text))
        return with_newer(share >= KEYWORD_RUNG_MIN_OVERLAP, pool.ids, pool.supersedes)
    is_long = np.array([len(text) > LONG_TEXT_CHARS for text in pool.text], dtype=np.bool_)
    floor = np.where(is_long, limits.relevance_long, limits.relevance)
    near: Flags = np.nan_to_num(pool.cosine, nan=-1.0) >= floor
    return with_newer(near | (pool.words_share >= 1.0), pool.ids, pool.supersedes)


def rank(pool: Pool, *, profile: Profile, limit: int, mmr: bool = True) -> list[Ranked]:
    """The best `limit` of a pool, best first; with `mmr` a later place goes to what the earlier do not say.
    The most relevant rows keep a place whatever their age, and what may replace a row stands before it, or
    behind it when the question asks for it.
    """
    if limit <= 0 or not len(pool):
        return []
    relevances = relevance(pool)
    scores = score(pool, relevances) if profile is Profile.INJECTION else relevances
    order = np.lexsort((-pool.ids, pool.days_old, -relevances, -scores))
    ids = pool.ids[order].tolist()
    valued = dict(zip(ids, scores[order].tolist(), strict=True))
    picked = ids[:limit]
    if mmr:
        share = dict(zip(ids, _share_of_best(scores[order]), strict=True))
        words = _WordSets(dict(zip(ids, pool.text[order], strict=True)))
        picked = list(mmr_jaccard(ids, relevance=share, words=words, lam=MMR_LAMBDA, limit=limit))
    newer = newer_rows(pool.ids, pool.supersedes)
    asked_for = dict(zip(pool.ids.tolist(), pool.asked_for.tolist(), strict=True))
    picked = newer_first(picked, newer, asked_for)[:limit]
    guards = [ids[place] for place in np.argsort(-relevances[order], kind="stable")[:GUARDED_HITS]]
    guards = newer_first(guards, newer, asked_for)[:limit]
    missing = [pk for pk in guards if pk not in picked]
    if missing:
        others = [pk for pk in picked if pk not in guards]
        dropped = others[max(0, limit - len(guards)) :]
        picked = [pk for pk in picked if pk not in dropped] + missing
        picked = newer_first(picked, newer, asked_for)[:limit]
    return [Ranked(pk, valued[pk], pk in missing) for pk in picked]


def _pairs_share(question: str, texts: Texts) -> Floats:
    """The part of a question's pairs of characters that each text has, 0..1; 0 in scripts with spaces."""
    asked = word_set(question) if has_unspaced(question) else frozenset()
    return np.array([len(asked & word_set(text)) / max(1, len(asked)) for text in texts], dtype=np.float64)


class _WordSets(dict[int, frozenset[str]]):
    """Word sets of texts, made when they are asked for: most rows of a pool never come near a place."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        self._texts = texts

    def __missing__(self, object_id: int) -> frozenset[str]:
        found = self[object_id] = word_set(self._texts[object_id])
        return found


def _share_of_best(scores: Floats) -> list[float]:
    best = float(scores[0])
    shares: list[float] = (scores / best if best > 0.0 else scores).tolist()
    return shares


def _scaled(columns: Floats, known: Flags) -> Floats:
    """`(columns, rows)`, each column onto 0..1 within the pool; where its known values are equal they are all
    1."""
    low = np.where(known, columns, np.inf).min(axis=1, keepdims=True)
    high = np.where(known, columns, -np.inf).max(axis=1, keepdims=True)
    wide = high > low
    scaled: Floats = np.where(wide, (columns - low) / np.where(wide, high - low, 1.0), 1.0)
    return scaled


def _session_strength(own: Floats, session: Ids) -> Floats:
    """For every row the mean of the best rows of its conversation."""
    if len(np.unique(session)) == len(session):
        return own
    order = np.lexsort((-own, session))
    ordered = session[order]
    first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    starts = np.flatnonzero(first)
    group = np.cumsum(first) - 1
    counted = np.arange(len(ordered)) - starts[group] < SESSION_BEST_ROWS
    sums = np.bincount(group[counted], weights=own[order][counted])
    means = sums / np.bincount(group[counted])
    strength = np.empty(len(own))
    strength[order] = means[group]
    return strength

"""What is said around a row: the rows before and after it in its conversation, and who says it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from memory.constants import WINDOW_SATURATION, WINDOW_VECTOR_REACH, WINDOW_WORDS_REACH

if TYPE_CHECKING:
    from crewsite.search.evidence import Evidence
    from memory.ranking import Flags, Floats, Ids

NOBODY: Final = -1
_NAME: Final = re.compile(r"[^\W\d_][^:\n]{0,40}")
_WORD: Final = re.compile(r"\w+")


def windows(ids: Ids, sessions: Sequence[Sequence[int]]) -> Ids:
    """`(rows, 5)`: every row with the two before and after it in its session, -1 where there is none.

    `sessions` holds the ids of each conversation in their order; a row in none of them stands alone.
    """
    reach = WINDOW_WORDS_REACH
    alone = np.full((len(ids), 2 * reach + 1), NOBODY, dtype=np.int64)
    alone[:, reach] = ids
    if not sessions:
        return alone
    gap = [NOBODY] * reach
    line = np.array([*gap, *(pk for session in sessions for pk in (*session, *gap))], dtype=np.int64)
    order = np.argsort(line, kind="stable")
    places = order[np.minimum(np.searchsorted(line, ids, sorter=order), len(line) - 1)]
    around = places[:, None] + np.arange(-reach, reach + 1)
    found = line[np.clip(around, 0, len(line) - 1)]
    there: Ids = np.where((line[places] == ids)[:, None], found, alone)
    return there


def window_cosines(around: Ids, cosine: Floats, evidence: Evidence) -> Floats:
    """`(rows,)`: mean cosine of a row and those next to it: the cosine of their mean vector but for its
    length, which finds as much as embedding the joined texts (docs/benchmarks.md). NaN where none has one.
    """
    centre = WINDOW_WORDS_REACH
    near = around[:, centre - WINDOW_VECTOR_REACH : centre + WINDOW_VECTOR_REACH + 1]
    others = near.copy()
    others[:, WINDOW_VECTOR_REACH] = NOBODY
    if (others == NOBODY).all():
        return cosine
    asked, place = np.unique(others, return_inverse=True)
    values = evidence.cosines(asked).astype(np.float64)[place.reshape(near.shape)]
    values[:, WINDOW_VECTOR_REACH] = cosine
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    sums = np.where(known, values, 0.0).sum(axis=1)
    return np.where(count > 0, sums / np.maximum(count, 1), np.nan)


def window_words(around: Ids, evidence: Evidence) -> Floats:
    """`(rows,)`: BM25 of the joined texts but for their length: how many rows have a term, saturating."""
    others, place = np.unique(around, return_inverse=True)
    having = evidence.terms_held(others)[place.reshape(around.shape)].sum(axis=1)
    saturated = having * (WINDOW_SATURATION + 1.0) / (having + WINDOW_SATURATION)
    weighed: Floats = saturated @ evidence.term_weights
    return weighed


def speakers_named(question: str, openings: Sequence[str]) -> Flags:
    """Rows that open with a name ("Caroline: ...") which the question says. A question that names two
    speakers is about both, and marks none.
    """
    speakers = [text.partition(": ")[0] if ": " in text else "" for text in openings]
    asked = set(_WORD.findall(question.casefold()))
    named = {
        speaker
        for speaker in set(speakers)
        if _NAME.fullmatch(speaker) and asked.issuperset(_WORD.findall(speaker.casefold()))
    }
    if len({speaker.casefold() for speaker in named}) != 1:
        return np.zeros(len(openings), dtype=np.bool_)
    return np.array([speaker in named for speaker in speakers], dtype=np.bool_)

"""Rows of a pool and those that may replace them: which is the latest, which comes first, and when a question
asks for the older one itself. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory.single_facts import ends, subject

if TYPE_CHECKING:
    from crewsite.search.words import Term

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Texts = NDArray[np.object_]


def newer_rows(ids: Ids, supersedes: Ids) -> dict[int, int]:
    """By the id of a row the latest of the pool that may replace it."""
    if not supersedes.any():
        return {}
    known = set(ids.tolist())
    pairs = sorted(zip(ids.tolist(), supersedes.tolist(), strict=True))
    return {old: new for new, old in pairs if old in known}


def newer_first(picked: Sequence[int], newer: Mapping[int, int], asked_for: Mapping[int, bool]) -> list[int]:
    """Rows with the last of those that may replace them put before them: a changed fact is never told by an
    old row alone. A row that is asked for itself stands first.
    """
    if not newer:
        return list(picked)
    chosen, told = set(picked), dict[int, None]()
    for pk in picked:
        line = _line(pk, newer)
        # What is between the two says nothing that the last does not say better, unless it was found too.
        line = [later for later in line[:-1] if later in chosen] + line[-1:]
        told |= dict.fromkeys([pk, *reversed(line)] if asked_for.get(pk) else [*reversed(line), pk])
    return list(told)


def with_newer(rows: Flags, ids: Ids, supersedes: Ids) -> Flags:
    """These rows and those that may replace one of them, or a row that may."""
    both = rows
    while True:
        more: Flags = both | np.isin(supersedes, ids[both])
        if (more == both).all():
            return both
        both = more


def asked_for(ids: Ids, supersedes: Ids, texts: Texts, *, held: Flags, terms: Sequence[Term]) -> Flags:
    """Whether a question names what a row is about and the one that may replace it is not: a number in it
    (POL-358, a day), or another subject. A state that is over ("I work at Google") is never asked for alone.
    """
    flags = np.zeros(len(ids), dtype=np.bool_)
    newer = newer_rows(ids, supersedes)
    if not newer:
        return flags
    places = {pk: place for place, pk in enumerate(ids.tolist())}
    has_digit = np.array([any(map(str.isdigit, term.text)) for term in terms], dtype=np.bool_)
    for old, new in newer.items():
        only_old = held[places[old]] & ~held[places[new]]
        if not only_old.any():
            continue
        told, since = texts[places[old]], texts[places[new]]
        is_other_thing = (only_old & has_digit).any() or subject(told) != subject(since)
        flags[places[old]] = is_other_thing and not ends(told, since)
    return flags


def _line(pk: int, newer: Mapping[int, int]) -> list[int]:
    """What may replace a row, and what may replace that, to the last."""
    line = [pk]
    while (later := newer.get(line[-1])) is not None and later not in line:
        line.append(later)
    return line[1:]

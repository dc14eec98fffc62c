"""Fits lines under a heading into a cap, whole lines only, and remembers which did not fit. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.context.constants import LEFT_OUT_NAMED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memory.context.packet import SourceRef


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    source: SourceRef


@dataclass(frozen=True, slots=True)
class Fitted:
    kept: tuple[Line, ...]
    left_out: tuple[Line, ...]


def fit_lines(lines: Iterable[Line], *, room: int) -> Fitted:
    """Lines in their order while they fit in `room` characters, each with its line break.

    A line too long for what is left is skipped, not the ones after it: one huge value must not hide twenty
    small ones. After some misses the rest is not read, and not in `left_out`.
    """
    kept: list[Line] = []
    left_out: list[Line] = []
    for line in lines:
        need = len(line.text) + 1
        if need <= room:
            kept.append(line)
            room -= need
        else:
            left_out.append(line)
        if len(left_out) == LEFT_OUT_NAMED:
            break
    return Fitted(tuple(kept), tuple(left_out))


def name_left_out(left_out: Iterable[SourceRef], count: int, *, word: str, total: int) -> str:
    """`3 of 51 lessons left out: les:1, les:2, les:3`; a long list ends with how many more there are."""
    if not count:
        return ""
    named = list(left_out)[:LEFT_OUT_NAMED]
    names = ", ".join(source.citation for source in named)
    more = f" and {count - len(named)} more" if count > len(named) else ""
    return f"{count} of {total} {word} left out: {names}{more}"

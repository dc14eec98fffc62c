"""Shortens a long thread without a model: its first and last messages word for word, those between by their
first words. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crewsite.security.text import number_of
from memory.context.constants import THREAD_HEAD_MESSAGES, THREAD_SHORTENED_MIN_CHARS, THREAD_TAIL_SHARE
from memory.context.cuts import cut_words

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Shortened:
    """`entries` in order, a line on what was done included. `shortened` messages were cut, `dropped` ones are
    gone.
    """

    entries: tuple[str, ...]
    shortened: int
    dropped: int


def shorten_middle(entries: Sequence[str], room: int) -> Shortened:
    """The entries within `room` characters, each counted with its line break; the last one always stands."""
    if _size(entries) <= room:
        return Shortened(tuple(entries), 0, 0)
    line = _between(len(entries))
    tail = _newest(entries, max(len(entries[-1]) + 1, int(room * THREAD_TAIL_SHARE)))
    rest = entries[: len(entries) - len(tail)]
    head = [entry for entry in rest[:THREAD_HEAD_MESSAGES] if entry]
    left = room - _size(tail) - len(line) - 1
    # A head that leaves the middle nothing is part of the middle.
    while head and _size(head) > left // 2:
        head.pop()
    middle = rest[len(head) :]
    left -= _size(head)
    fitting = min(len(middle), max(0, left // (THREAD_SHORTENED_MIN_CHARS + 1)))
    kept = middle[len(middle) - fitting :]
    each = left // fitting - 1 if fitting else 0
    short = [cut_words(" ".join(entry.split()), each) for entry in kept]
    between = [_between(len(short)), *short] if short else []
    return Shortened((*head, *between, *tail), len(short), len(middle) - fitting)


def _between(count: int) -> str:
    return f"(The {number_of(count, 'message')} between, shortened to their first words.)"


def _newest(entries: Sequence[str], room: int) -> list[str]:
    kept: list[str] = []
    for entry in reversed(entries):
        room -= len(entry) + 1
        if room < 0:
            break
        kept.append(entry)
    return kept[::-1]


def _size(entries: Sequence[str]) -> int:
    return sum(len(entry) + 1 for entry in entries)

"""Copies of a text with its disguises undone, for scans; every position maps back to the original."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from crewsite.security.lookalikes import INVISIBLE, LOOKALIKES

_LINE_ENDS: Final = frozenset("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
_BLANK_RUN: Final = re.compile(r"[ \n]{2,}")
# What an ASCII text may hold that folding would change beyond its case.
_ASCII_WORK: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|\s\s")
# Characters remembered per table: a hostile text must not grow it without end.
_REMEMBERED_CHARS: Final = 20_000


class _Table(dict[int, str]):
    """A translation table that works a character out when it is first met."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        super().__init__()
        self._fold = fold

    def __missing__(self, code: int) -> str:
        folded = self._fold(chr(code))
        if len(self) < _REMEMBERED_CHARS:
            self[code] = folded
        return folded


def _is_invisible(char: str) -> bool:
    return (
        unicodedata.category(char) == "Cf"
        or char in INVISIBLE
        or "\ufe00" <= char <= "\ufe0f"
        or "\U000e0100" <= char <= "\U000e01ef"
    )


def _fold_char(char: str) -> str:
    if char in _LINE_ENDS:
        return "\n"
    if char.isspace() or char == "\u2800":
        return " "
    if _is_invisible(char) or unicodedata.category(char) in {"Cc", "Cs"}:
        return ""
    bare = "".join(c for c in unicodedata.normalize("NFKD", char) if not "\u0300" <= c <= "\u036f")
    lower = unicodedata.normalize("NFKC", bare).lower()
    return "".join(" " if c.isspace() else LOOKALIKES.get(c, c) for c in lower)


def _plain_char(char: str) -> str:
    if _is_invisible(char):
        return ""
    return unicodedata.normalize("NFKC", char)


_FOLDING: Final = _Table(_fold_char)
_PLAIN: Final = _Table(_plain_char)


class Shadow:
    """A changed copy of a text. `text` is what to search; `span` says where a match lies in the original."""

    __slots__ = ("_joined", "_offsets", "_table", "source", "text")

    def __init__(self, source: str, text: str, table: _Table | None, *, joined: bool) -> None:
        self.source = source
        self.text = text
        self._table = table
        self._joined = joined
        self._offsets: list[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original's (start, end) of a non-empty match in `text`."""
        if self._table is None:
            return start, end
        if self._offsets is None:
            self._offsets = self._map(self._table)
        return self._offsets[start], self._offsets[end - 1] + 1

    def _map(self, table: _Table) -> list[int]:
        offsets: list[int] = []
        in_blank = False
        for index, char in enumerate(self.source):
            for folded in table[ord(char)]:
                is_blank = self._joined and folded in " \n"
                if not (is_blank and in_blank):
                    offsets.append(index)
                in_blank = is_blank
        return offsets


def folded_shadow(text: str) -> Shadow:
    """For words: lower case, compatibility forms and accents undone, look-alikes Latin, blank runs joined.

    A blank run that held a line end is one line end.
    """
    if text.isascii() and not _ASCII_WORK.search(text):
        return Shadow(text, text.lower(), None, joined=True)
    joined = _BLANK_RUN.sub(lambda run: "\n" if "\n" in run[0] else " ", text.translate(_FOLDING))
    return Shadow(text, joined, _FOLDING, joined=True)


def plain_shadow(text: str) -> Shadow:
    """For tokens: compatibility forms undone, invisible characters removed; case, blanks and letters stay."""
    if text.isascii():
        return Shadow(text, text, None, joined=False)
    return Shadow(text, text.translate(_PLAIN), _PLAIN, joined=False)


def fold_pattern(source: str) -> str:
    """A pattern's own non-Latin letters and accents in the form the folded shadow gives them."""
    return "".join(char if char.isascii() else _FOLDING[ord(char)] for char in source)

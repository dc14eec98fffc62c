"""Stored text on its way into a prompt: one line or many, with our markers and ids in it made harmless.
Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from crewsite.security.fencing import neutralise
from crewsite.security.lookalikes import LOOKALIKES
from crewsite.security.shadow import folded_shadow
from crewsite.security.text import clean
from memory.context.constants import KEPT_BLOCK_CHARS, KEPT_BLOCKS, KEPT_ROW_CHARS, KEPT_ROWS

# A stored text must not bring its own citation: `[epi:7]` at the end of a line would pass for a source.
# Looked for in the shadow: blanks, odd letters and invisible characters in it do not hide it.
_FORGED_CITATION: Final = re.compile(r"\[\s?(?:sem|epi|les|doc|hist)(?:[a-z]{0,8})\s?:[^\[\]\n]{1,120}\]")

# A shadow costs a millisecond for a long message; most texts have nothing that could open an id.
_BRACKETS: Final = ("[", "［", *(char for char, plain in LOOKALIKES.items() if plain == "["))


def stored_text(text: str) -> str:
    """Kept for texts seen lately: every turn of a conversation shows the same rows again."""
    if len(text) <= KEPT_ROW_CHARS:
        return _kept_row(text)
    return _kept_block(text) if len(text) <= KEPT_BLOCK_CHARS else _harmless(text)


def _harmless(text: str) -> str:
    return _without_citations(neutralise(clean(text))).strip()


_kept_row = lru_cache(maxsize=KEPT_ROWS)(_harmless)
_kept_block = lru_cache(maxsize=KEPT_BLOCKS)(_harmless)


def stored_line(text: str) -> str:
    """The same on one line: a stored line break cannot begin a line that looks like ours."""
    return _kept_line(text) if len(text) <= KEPT_ROW_CHARS else _one_line(text)


def _one_line(text: str) -> str:
    return _harmless(" ".join(clean(text).split()))


_kept_line = lru_cache(maxsize=KEPT_ROWS)(_one_line)


def _without_citations(text: str) -> str:
    if not any(bracket in text for bracket in _BRACKETS):
        return text
    shadow = folded_shadow(text)
    pieces, done = [], 0
    for forged in _FORGED_CITATION.finditer(shadow.text):
        start, end = shadow.span(*forged.span())
        pieces += [text[done:start], "［", text[start + 1 : end - 1], "］"]
        done = end
    return "".join([*pieces, text[done:]])

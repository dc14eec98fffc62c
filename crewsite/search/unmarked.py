"""Stored text without the signs of its Markdown, for excerpts, which show a piece of it on one line."""

from __future__ import annotations

import re
from typing import Final

# Linear in the text, whatever it holds: no sign is looked for beyond the next one of its kind.
_RULES: Final = [
    (re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n`]*$", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*\|[ \t|:-]*$", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*(?:#{1,6}|>|(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\]|[-*+])[ \t]+", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*\|[ \t]*|\|[ \t]*$", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{1,2000}\)"), r"\1"),
    (re.compile(r"\*\*(?=\S)([^*\n]+)(?<=\S)\*\*|(?<![\w*])\*(?=\S)([^*\n]+)(?<=\S)\*(?![\w*])"), r"\1\2"),
    (re.compile(r"~~(?=\S)([^~\n]+)~~"), r"\1"),
    (re.compile(r"`"), ""),
]


def unmarked(text: str) -> str:
    """What a reader of the rendered text sees, near enough: words stay as they are, in their lines."""
    for pattern, instead in _RULES:
        text = pattern.sub(instead, text)
    return text

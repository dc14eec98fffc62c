"""Texts that only look like an answer: what a schema or a prompt gives as an example, and nothing at all."""

from __future__ import annotations

import re
from typing import Final

from crewsite.security.text import fold

PHRASES: Final = (
    "example",
    "an example",
    "example text",
    "example title",
    "placeholder",
    "title",
    "the title",
    "your title",
    "title here",
    "your title here",
    "clear, specific title",
    "clear specific title",
    "a clear, specific title",
    "specific title",
    "text",
    "the text",
    "your text",
    "text here",
    "your text here",
    "insert text here",
    "string",
    "value",
    "description",
    "summary",
    "a summary",
    "summary here",
    "short summary",
    "content",
    "content here",
    "rule",
    "fact",
    "episode",
    "lesson",
    "none",
    "n/a",
    "na",
    "null",
    "undefined",
    "nil",
    "tbd",
    "todo",
    "tba",
    "xxx",
    "untitled",
    "unknown",
    "lorem ipsum",
    "lorem ipsum dolor sit amet",
    "nothing",
    "nothing to report",
    "no information",
    "not applicable",
    "foo",
    "bar",
    "foo bar",
    "test",
)
_BRACKETED: Final = re.compile(r"(?:<[^<>]*>|\[[^\[\]]*\]|\{+[^{}]*\}+|\.{2,}|…+|[-_*#.\s]+)")
_EDGES: Final = " \t\n.,:;!?\"'“”‘’`*_#-"


def is_placeholder(text: str) -> bool:
    """Whether a text holds nothing, or is a placeholder as a whole. A text that mentions one is none."""
    folded = fold(text)
    plain = folded.strip(_EDGES)
    return not plain or plain in PHRASES or _BRACKETED.fullmatch(folded) is not None

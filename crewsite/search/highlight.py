"""An excerpt of a text around what a question asks for, as safe HTML."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from crewsite.search.constants import HIGHLIGHT_CHARS
from crewsite.search.unmarked import unmarked
from crewsite.search.words import query_terms, stem_prefix


def highlight(text: str, query: str, *, chars: int = HIGHLIGHT_CHARS) -> str:
    """About `chars` characters around the first match, escaped and without the signs of Markdown, every
    matching word in `<mark>`."""
    text = unmarked(text)
    pattern = _pattern(query)
    start = _start(text, pattern.search(text) if pattern else None, chars)
    piece = text[start : start + chars]
    before, after = ("… " if start else ""), (" …" if start + chars < len(text) else "")
    if pattern is None:
        return escape(before + piece + after)
    marked: list[str] = []
    end = 0
    for match in pattern.finditer(piece):
        marked += [escape(piece[end : match.start()]), "<mark>", escape(match.group()), "</mark>"]
        end = match.end()
    return escape(before) + "".join([*marked, escape(piece[end:])]) + escape(after)


def _start(text: str, first: re.Match[str] | None, chars: int) -> int:
    """A little before the first match, at the beginning of a word where there is one."""
    if first is None or len(text) <= chars:
        return 0
    start = max(0, first.start() - chars // 3)
    blank = text.find(" ", start, first.start())
    return blank + 1 if start and blank >= 0 else start


@lru_cache(maxsize=64)
def _pattern(query: str) -> re.Pattern[str] | None:
    """Grams of one run overlap; longer alternatives come first, and neighbours join."""
    parts = []
    for term in sorted(query_terms(query), key=lambda term: -len(term.text)):
        part = re.escape(stem_prefix(term.text))
        parts.append(rf"\b{part}\w*" if term.kind == "word" else part)
    return re.compile(f"(?:{'|'.join(parts)})+", re.IGNORECASE) if parts else None

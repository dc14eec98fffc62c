"""An excerpt of a text around what a question asks for, as safe HTML."""

from __future__ import annotations

import re
from html import escape

from crewsite.search.constants import HIGHLIGHT_CHARS
from crewsite.search.words import query_terms, stem_prefix


def highlight(text: str, query: str, *, chars: int = HIGHLIGHT_CHARS) -> str:
    """About `chars` characters around the first match, escaped, every matching word in `<mark>`."""
    pattern = _pattern(query)
    first = pattern.search(text) if pattern else None
    start = max(0, first.start() - chars // 3) if first and len(text) > chars else 0
    if start:
        start = text.find(" ", start, first.start()) + 1 if first and " " in text[start : first.start()] else start
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


def _pattern(query: str) -> re.Pattern[str] | None:
    """Grams of one run overlap; longer alternatives come first, and neighbours join."""
    parts = []
    for term in sorted(query_terms(query), key=lambda term: -len(term.text)):
        part = re.escape(stem_prefix(term.text))
        parts.append(rf"\b{part}\w*" if term.kind == "word" else part)
    return re.compile(f"(?:{'|'.join(parts)})+", re.IGNORECASE) if parts else None

"""An excerpt of a text around what a question asks for, as safe HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape

from crewsite.search.constants import HIGHLIGHT_CHARS, STRETCH_CHARS, STRETCH_OVERLAP_CHARS
from crewsite.search.folding import SPACED, fold, folded_with_places
from crewsite.search.unmarked import unmarked
from crewsite.search.words import query_terms, stem_prefix


def highlight(text: str, query: str, *, chars: int = HIGHLIGHT_CHARS) -> str:
    """About `chars` characters around the first match, escaped and without the signs of Markdown, every
    matching word in `<mark>`."""
    text = unmarked(text)
    pattern = _pattern(query)
    start = _start(text, first_place(text, query), chars)
    piece = text[start : start + chars]
    before, after = ("… " if start else ""), (" …" if start + chars < len(text) else "")
    marked: list[str] = []
    end = 0
    for begin, stop in _matches(piece, pattern):
        marked += [escape(piece[end:begin]), "<mark>", escape(piece[begin:stop]), "</mark>"]
        end = stop
    return escape(before) + "".join([*marked, escape(piece[end:])]) + escape(after)


def first_place(text: str, query: str) -> int | None:
    """Where the first match begins. Stretch by stretch, since to know the places of a long text takes its
    time.
    """
    pattern = _pattern(query)
    if pattern is None:
        return None
    for start in range(0, len(text), STRETCH_CHARS):
        stretch = text[start : start + STRETCH_CHARS + STRETCH_OVERLAP_CHARS]
        if pattern.search(fold(stretch)):
            return start + next((begin for begin, _ in _matches(stretch, pattern)), 0)
    return None


def _matches(text: str, pattern: re.Pattern[str] | None) -> Iterator[tuple[int, int]]:
    """Where matches begin and end in the text as it is written."""
    if pattern is None:
        return
    folded, places = folded_with_places(text)
    end = 0
    for match in pattern.finditer(folded):
        begin = places[match.start()]
        # One that ends within what a single character stands for takes the whole of it.
        stop = next(place for place in places[match.end() :] if place > places[match.end() - 1])
        if begin >= end:
            yield begin, stop
            end = stop


def _start(text: str, first: int | None, chars: int) -> int:
    """A little before the first match, at the beginning of a word where there is one."""
    if first is None or len(text) <= chars:
        return 0
    start = max(0, first - chars // 3)
    blank = text.find(" ", start, first)
    return blank + 1 if start and blank >= 0 else start


@lru_cache(maxsize=64)
def _pattern(query: str) -> re.Pattern[str] | None:
    """Of a folded text. Grams of one run overlap; longer alternatives come first, and neighbours join."""
    parts = []
    for term in sorted(query_terms(query), key=lambda term: -len(term.text)):
        part = re.escape(stem_prefix(term.text))
        parts.append(rf"(?<!{SPACED}){part}{SPACED}*" if term.kind == "word" else part)
    return re.compile(f"(?:{'|'.join(parts)})+") if parts else None

"""Citations in rendered Markdown (`[epi:12]`, `[les:3, sem:pref.editor]`) as links to what they name. Whether
the row exists, and for whom, is for the page they lead to."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.utils.module_loading import import_string

from crewsite.conversations.linking import link, rewritten, split_text, text

if TYPE_CHECKING:
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

# The page they lead to; the dashboard serves it. Not looked up by its name: that would load every page and
# admin, which commands do without.
CITED_PATH: Final = "memory/cited/"
# Bounded, and each text read in one way only: hostile text must not make the expression try many.
SEPARATOR: Final = r"(?: {0,2}[,;] {0,2}| {1,2})"
MORE_MAX: Final = 19


def link_citations(state: StateCore) -> None:
    """A rule of the Markdown parser, after all others: text and code become links, links stay as they are."""
    for block in state.tokens:
        if block.type == "inline" and any("[" in child.content for child in block.children or ()):
            block.children = rewritten(block.children or (), _linked)


def _linked(child: Token) -> list[Token]:
    brackets = _patterns()[0]
    if child.type == "code_inline" and (cited := brackets.fullmatch(child.content)):
        return _links(cited[0], child.level)
    if child.type != "text":
        return [child]
    return split_text(child, brackets, lambda found: _links(found, child.level))


def _links(brackets: str, level: int) -> list[Token]:
    """One link for each citation between the brackets, which are not shown."""
    found: list[Token] = []
    for citation in _patterns()[1].findall(brackets):
        found += text(" ", level) if found else []
        found += link(citation, f"/{CITED_PATH}{citation}/", level, title="Open what this cites")
    return found


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Bracketed citations, and one of them: of every kind that memory has and search finds."""
    kinds = (import_string(path) for path in (*settings.MEMORY_LAYERS, *settings.SEARCH_KINDS))
    prefixes = sorted({str(kind.prefix) for kind in kinds})
    names = (
        re.escape(prefix) + (r"(?::\d{1,18})?" if ":" in prefix else r":[a-z0-9_.]{1,120}")
        for prefix in prefixes
    )
    one = rf"(?:{'|'.join(names)})"
    return re.compile(rf"\[{one}(?:{SEPARATOR}{one}){{0,{MORE_MAX}}}\]"), re.compile(one)

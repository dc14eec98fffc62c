"""Bare web addresses in rendered Markdown as links. `static/js/chat/stream.js` reads them the same way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from crewsite.conversations.linking import link, rewritten, split_text

if TYPE_CHECKING:
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

# Up to a blank, a quote or a bracket that was not opened inside; a sentence's own mark at the end stays
# outside. Each text is read in one way only: hostile text must not make the expression try many.
_END: Final = r"\s<>\"'`\[\](){}、。，」』）】》！？；"
_INSIDE: Final = rf"\([^{_END}]*\)"
ADDRESS: Final = re.compile(
    rf"(?<![A-Za-z0-9_])https?://(?=\w)(?:[^{_END}]|{_INSIDE})*(?:[^{_END}.,;:!?*_~]|{_INSIDE})"
)


def link_addresses(state: StateCore) -> None:
    """A rule of the Markdown parser, after all others; links and code stay as they are."""
    for block in state.tokens:
        if block.type == "inline" and "://" in block.content:
            block.children = rewritten(block.children or (), _linked)


def _linked(child: Token) -> list[Token]:
    if child.type != "text":
        return [child]
    return split_text(child, ADDRESS, lambda found: link(found, found, child.level))

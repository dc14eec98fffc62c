"""Bare web addresses in rendered Markdown as links. `static/js/chat/stream.js` reads them the same way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

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
    from markdown_it.token import Token

    for block in state.tokens:
        if block.type != "inline" or "://" not in block.content:
            continue
        depth, found = 0, []
        for child in block.children or ():
            depth += child.nesting if child.type in {"link_open", "link_close"} else 0
            found += [child] if depth or child.type != "text" else _linked(child, Token)
        block.children = found


def _linked(child: Token, new: type[Token]) -> list[Token]:
    found, end = [], 0
    for address in ADDRESS.finditer(child.content):
        found += [
            new("text", "", 0, content=child.content[end : address.start()], level=child.level),
            new("link_open", "a", 1, attrs={"href": address[0]}, level=child.level),
            new("text", "", 0, content=address[0], level=child.level),
            new("link_close", "a", -1, level=child.level),
        ]
        end = address.end()
    return [*found, new("text", "", 0, content=child.content[end:], level=child.level)] if end else [child]

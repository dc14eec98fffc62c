"""What the rules that make links of plain text share: where they may, and how a link is put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable

    from markdown_it.token import Token


def rewritten(tokens: Iterable[Token], rewrite: Callable[[Token], list[Token]]) -> list[Token]:
    """Each of a paragraph's tokens, but for those within a link."""
    depth, found = 0, []
    for token in tokens:
        depth += token.nesting if token.type in {"link_open", "link_close"} else 0
        found += [token] if depth else rewrite(token)
    return found


def split_text(child: Token, pattern: re.Pattern[str], linked: Callable[[str], list[Token]]) -> list[Token]:
    """A text with what the pattern finds in it `linked`."""
    found, end = [], 0
    for match in pattern.finditer(child.content):
        found += [*text(child.content[end : match.start()], child.level), *linked(match[0])]
        end = match.end()
    return [*found, *text(child.content[end:], child.level)] if end else [child]


def link(content: str, href: str, level: int, **attributes: str) -> list[Token]:
    from markdown_it.token import Token

    opening = Token("link_open", "a", 1, attrs={"href": href, **attributes}, level=level)
    return [opening, *text(content, level), Token("link_close", "a", -1, level=level)]


def text(content: str, level: int) -> list[Token]:
    """None for an empty one."""
    from markdown_it.token import Token

    return [Token("text", "", 0, content=content, level=level)] if content else []

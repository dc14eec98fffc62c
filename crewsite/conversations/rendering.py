"""Stored text as HTML for people: Markdown without raw HTML, highlighted code, citations as links, and a
closed list of tags as the last word. The only module that vouches for HTML."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

# The tags Markdown itself makes, plus the spans of highlighted code (spec 13.10). No images: a remote
# picture tells its host who reads what, so it becomes a link.
TAGS = frozenset(
    {
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "div",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
    }
    | {"pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
)
ATTRIBUTES = {
    "a": {"href", "title"},
    "code": {"class"},
    "div": {"class"},
    "li": {"class"},
    "ol": {"start"},
    "pre": {"class"},
    "span": {"class"},
    "td": {"align"},
    "th": {"align"},
}
SCHEMES = {"http", "https", "mailto"}
LINK_REL = "noopener nofollow"
MARK = '<div class="call-mark"></div>'
# What a task list shows instead of its bullets.
TASK_SIGNS = {"[ ] ": "\u2610 ", "[x] ": "\u2611 ", "[X] ": "\u2611 "}
# Longer code is shown plain: highlighting costs about a millisecond a kilobyte.
HIGHLIGHT_MAX_CHARS = 50_000
# Longer text is shown as it is: a million characters of Markdown take eleven seconds, in which a process does
# nothing else.
RENDER_MAX_CHARS = 200_000


def render_markdown(text: str, *, marks: Sequence[int] = ()) -> SafeString:
    """Sanitised HTML of any stored text. Never raises on odd input; the same text always gives the same
    bytes. `marks` are places in the text: an empty `call-mark` stands before the first block that starts
    there or later."""
    import nh3

    if len(text) > RENDER_MAX_CHARS:
        return mark_safe(f"<pre>{escape(text)}</pre>")  # noqa: S308 - escaped
    parser, seen = _parser(), {}  # type: ignore[var-annotated]
    tokens = parser.parse(text, seen)
    rendered = parser.renderer.render(_marked(tokens, text, marks), parser.options, seen)
    safe = nh3.clean(
        rendered,
        tags=set(TAGS),
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        url_schemes=SCHEMES,
        link_rel=LINK_REL,
        strip_comments=True,
    )
    return mark_safe(safe)  # noqa: S308 - the closed list above is what makes it safe


def rendered(html: str) -> SafeString:
    """What `render_markdown` made of a text, and a row has kept since."""
    return mark_safe(html)  # noqa: S308 - see above


def _marked(tokens: list[Token], text: str, marks: Sequence[int]) -> list[Token]:
    from markdown_it.token import Token

    lines = sorted(text.count("\n", 0, at) + (text[max(0, at - 1) : at] not in {"", "\n"}) for at in marks)
    found: list[Token] = []
    for token in tokens:
        while lines and token.level == 0 and token.nesting >= 0 and token.map and token.map[0] >= lines[0]:
            found.append(Token("html_block", "", 0, content=MARK))
            lines.pop(0)
        found.append(token)
    return [*found, *(Token("html_block", "", 0, content=MARK) for _ in lines)]


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    from crewsite.conversations.addresses import link_addresses
    from crewsite.conversations.citations import link_citations

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "highlight": _highlight})
    parser.enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image_as_link)
    parser.core.ruler.push("tasks", _tick)
    parser.core.ruler.push("citations", link_citations)
    parser.core.ruler.push("addresses", link_addresses)
    parser.core.ruler.push("alignment", _align)
    return parser


def _align(state: StateCore) -> None:
    """Columns say how they are aligned by an attribute: the page's policy forbids styles in the text."""
    for token in state.tokens:
        if token.type in {"td_open", "th_open"} and (style := token.attrs.pop("style", "")):
            token.attrs["align"] = str(style).rpartition(":")[2]


def _tick(state: StateCore) -> None:
    """`- [x] done` shows a ticked box instead of a bullet."""
    for item, paragraph, inline in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if (item.type, paragraph.type, inline.type) != ("list_item_open", "paragraph_open", "inline"):
            continue
        first = inline.children[0] if inline.children else None
        if first and first.type == "text" and (sign := TASK_SIGNS.get(first.content[:4])):
            first.content = sign + first.content[4:]
            item.attrSet("class", "task")


def _highlight(code: str, language: str, _attributes: str) -> str:
    """Highlighted inner HTML, or an empty text, which leaves the parser's own escaping."""
    if not language or len(code) > HIGHLIGHT_MAX_CHARS:
        return ""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return ""
    inner: str = highlight(code, lexer, HtmlFormatter(nowrap=True))
    return inner


def _image_as_link(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
) -> str:
    token = tokens[index]
    source = str(token.attrGet("src") or "")
    label = renderer.renderInlineAsText(token.children or [], options, env) or source
    return f'<a href="{escape(source)}">{escape(label)}</a>'

from __future__ import annotations

import html
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from crewsite.conversations.rendering import TAGS, render_markdown

FORBIDDEN = ("<script", "<img", "<iframe", "<svg", "<object", "<style", "<form", "<input")


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:msgbox)",
        "<a href='javascript:alert(1)'>x</a>",
        '[x](https://ok.example "onmouseover=alert(1)")',
        "![x](javascript:alert(1))",
        "<svg/onload=alert(1)>",
        "`<img src=x onerror=alert(1)>`",
        '```html" onclick="alert(1)\n<b>\n```',
        "<javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
        "&#106;avascript:alert(1)",
        "<<script>script>alert(1)<</script>/script>",
    ],
)
def test_hostile_text_is_inert(text: str) -> None:
    rendered = render_markdown(text)
    assert not [tag for tag in FORBIDDEN if tag in rendered.lower()]
    assert 'href="javascript' not in rendered.lower()
    assert " onerror" not in html_attributes(rendered)
    assert " onclick" not in html_attributes(rendered)


def html_attributes(rendered: str) -> str:
    """Only what stands inside tags."""
    return " ".join(part.split(">")[0] for part in rendered.split("<")[1:])


@given(st.text(alphabet=st.sampled_from("<>()[]!`*_#&;:/'\"=xjavscripth \n")))
def test_no_text_opens_a_tag_outside_the_list(text: str) -> None:
    rendered = render_markdown(text)
    names = {part.split(">")[0].split(" ")[0].strip("/").lower() for part in rendered.split("<")[1:]}
    assert names <= TAGS


def test_a_remote_picture_becomes_a_link() -> None:
    rendered = render_markdown("![chart](https://elsewhere.example/chart.png?u=1)")
    assert "<img" not in rendered
    assert 'href="https://elsewhere.example/chart.png?u=1"' in html.unescape(rendered)
    assert ">chart</a>" in rendered


def test_links_say_nothing_about_where_they_were_followed_from() -> None:
    assert 'rel="noopener nofollow"' in render_markdown("[x](https://ok.example)")


def test_mail_addresses_may_be_linked_and_file_addresses_may_not() -> None:
    assert 'href="mailto:a@b.example"' in render_markdown("[x](mailto:a@b.example)")
    assert "href" not in render_markdown("[x](file:///etc/passwd)")


def test_code_is_highlighted_and_escaped() -> None:
    rendered = render_markdown("```python\nif a < b: print('<b>')\n```")
    assert '<span class="k">if</span>' in rendered
    assert "<b>" not in rendered


def test_code_in_an_unknown_language_is_shown_as_it_is() -> None:
    assert "&lt;tag&gt;" in render_markdown("```no-such-language\n<tag>\n```")


def test_tables_and_strikethrough_are_rendered() -> None:
    rendered = render_markdown("| a | b |\n| - | - |\n| 1 | ~~2~~ |")
    assert "<table>" in rendered
    assert "<s>2</s>" in rendered


def test_the_same_text_gives_the_same_bytes() -> None:
    text = "# Title\n\n- one\n- two\n\n```js\nlet x = 1\n```"
    assert render_markdown(text) == render_markdown(text)


MARK = '<div class="call-mark"></div>'


@pytest.mark.parametrize(
    ("text", "places", "rendered"),
    [
        ("one\n\ntwo", [3], f"<p>one</p>\n{MARK}<p>two</p>\n"),
        ("one\n\ntwo", [0], f"{MARK}<p>one</p>\n<p>two</p>\n"),
        ("one\n\ntwo", [8], f"<p>one</p>\n<p>two</p>\n{MARK}"),
        ("one\n\ntwo", [3, 3], f"<p>one</p>\n{MARK}{MARK}<p>two</p>\n"),
        ("", [0], MARK),
        ("- one\n- two\n\nthree", [6], f"<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n{MARK}<p>three</p>\n"),
    ],
)
def test_a_mark_stands_before_the_block_that_comes_after_its_place(
    text: str, places: list[int], rendered: str
) -> None:
    assert render_markdown(text, marks=places) == rendered


def test_columns_keep_their_alignment() -> None:
    rendered = render_markdown("| a | b |\n| --- | ---: |\n| 1 | 2 |")
    assert '<td align="right">2</td>' in rendered
    assert "style" not in rendered


def cited(text: str) -> list[str]:
    return re.findall(r'href="/memory/cited/([^"]+)/"', render_markdown(text))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("It is heron [epi:12].", ["epi:12"]),
        ("`[sem:pref.editor]`", ["sem:pref.editor"]),
        (
            "[les:3, epi:4; his:5] and [msg:6][doc:preferences]",
            ["les:3", "epi:4", "his:5", "msg:6", "doc:preferences"],
        ),
        ("- **bold [les:1]**", ["les:1"]),
        ("[epi:12](https://elsewhere.example)", []),
        ("[see [epi:12]](https://elsewhere.example)", []),
        ("```\n[epi:12]\n```", []),
        ("`x[0] [epi:12]`", []),
        ("epi:12 [foo:1] [epi:] [epi:../../admin] [epi:12", []),
        ('[epi:1"onmouseover=alert(1)]', []),
    ],
)
def test_a_citation_is_a_link_to_its_row_and_nothing_else_is(text: str, names: list[str]) -> None:
    assert cited(text) == names


def test_a_citation_is_shown_without_its_brackets() -> None:
    assert ">epi:12</a>." in render_markdown("It is heron [epi:12].")


@pytest.mark.parametrize(
    "text", ["[epi:12, " * 9_000, "[" + "epi:12 " * 9_000, "[epi:1," + " " * 90_000, "[sem:" + "a" * 90_000]
)
def test_hostile_citations_cost_little_more_than_their_text(text: str) -> None:
    started = time.process_time()
    MarkdownIt("commonmark").render(text)
    plain = time.process_time() - started
    started = time.process_time()
    render_markdown(text)
    assert time.process_time() - started < 3 * plain + 0.5


def linked(text: str) -> list[str]:
    return [html.unescape(found) for found in re.findall(r'<a href="([^"]+)"', render_markdown(text))]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("See https://a.example/x?y=1&z=2#part.", ["https://a.example/x?y=1&z=2#part"]),
        (
            "(https://en.example/wiki/Foo_(bar)), **http://b.example**",
            ["https://en.example/wiki/Foo_(bar)", "http://b.example"],
        ),
        ("詳細はhttps://c.example/x。次", ["https://c.example/x"]),
        (
            "[label https://d.example](https://e.example) <https://f.example>",
            ["https://e.example", "https://f.example"],
        ),
        (
            "`https://g.example`, xhttps://h.example, https://, https://... javascript://i.example ftp://j.example",
            [],
        ),
        ("```\nhttps://k.example\n```", []),
    ],
)
def test_a_bare_web_address_is_a_link(text: str, addresses: list[str]) -> None:
    assert linked(text) == addresses


def test_a_bare_web_address_says_nothing_about_where_it_was_followed_from() -> None:
    assert 'rel="noopener nofollow"' in render_markdown("https://a.example")


def test_a_task_list_shows_boxes_instead_of_bullets() -> None:
    rendered = render_markdown("- [x] done\n- [ ] *open*\n- plain\n\n[x] no item")
    assert '<li class="task">\u2611 done</li>' in rendered
    assert '<li class="task">\u2610 <em>open</em></li>' in rendered
    assert "<li>plain</li>" in rendered
    assert "<p>[x] no item</p>" in rendered


@pytest.mark.parametrize("piece", ["https://a.b ", "https://", "https://a(", "https://a.(", "(https://a"])
def test_hostile_addresses_cost_little(piece: str) -> None:
    started = time.process_time()
    render_markdown(piece * (190_000 // len(piece)))
    assert time.process_time() - started < 3

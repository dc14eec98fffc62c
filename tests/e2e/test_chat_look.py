"""How the chat page looks and weighs: axe in both themes and on both widths, no request to elsewhere, a small
first load, nothing wider than a phone."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.e2e.accessible import serious
from tests.llm_server import Reply, text_reply

if TYPE_CHECKING:
    from tests.e2e.conftest import Chat

pytestmark = [pytest.mark.e2e, pytest.mark.sqlite_only, pytest.mark.timeout(300)]
FIRST_LOAD_BYTES = 200_000
RICH = """Two ways to do it:

1. with a loop
2. with a **comprehension**, see [the docs](https://docs.python.org/)

```python
def squares(n: int) -> list[int]:
    # every number once
    return [x * x for x in range(n)]
```

| way | time |
| --- | --- |
| loop | 12 ms |

> Quoted words."""


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(chat: Chat, scheme: Any, width: int) -> None:
    page = chat.page
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{chat.site.url}/chat/")
    assert serious(page) == []
    chat.llm.queue.append(text_reply(RICH))
    chat.new("Show me both ways, please")
    expect(chat.answer.locator("table")).to_be_visible()
    # Another rule at a second try, or it is known already.
    chat.say(f"remember to always moor at the stern in {scheme} at {width} of {token_hex(3)}")
    expect(chat.answer.locator(".tool")).to_contain_text("Lesson")
    expect(chat.answer.locator(".msg-body")).not_to_be_empty()
    chat.say("[script:key]")
    expect(chat.answer.locator(".msg-problem")).to_be_visible()
    chat.act(chat.answer, "again")
    expect(chat.question.locator(".versions-at")).to_have_text("2 of 2")
    expect(chat.answer.locator(".msg-problem")).to_be_visible()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    opened(chat)


def opened(chat: Chat) -> None:
    """The same with each panel open."""
    page = chat.page
    chat.act(chat.page.locator(".msg-assistant").first, "context")
    expect(page.locator("#context-drawer")).to_contain_text("characters")
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+h")
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.locator("#composer-text").fill("/")
    expect(page.locator("#complete")).to_be_visible()
    assert serious(page) == []
    page.locator("#composer-text").fill("")
    chat.act(page.locator(".msg-user").first, "edit")
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.locator("#thread-more").click()
    assert serious(page) == []
    page.locator("#row-menu").get_by_text("Delete").click()
    assert serious(page) == []


def test_the_first_load_is_small_and_asks_nobody_else(chat: Chat) -> None:
    chat.new("hello")
    expect(chat.answer).to_contain_text("You said")
    for address in (f"{chat.site.url}/chat/", chat.page.url):
        context = chat.page.context.browser.new_context()  # type: ignore[union-attr]
        context.add_cookies([{"name": "sessionid", "value": chat.seat.session, "url": chat.site.url}])
        page = context.new_page()
        bodies: dict[str, int] = {}
        page.on("response", lambda response, sizes=bodies: sizes.update({response.url: len(response.body())}))
        page.goto(address, wait_until="networkidle")
        assert all(url.startswith(chat.site.url) for url in bodies)
        assert len(bodies) > 10
        assert sum(bodies.values()) <= FIRST_LOAD_BYTES  # before any compression
        context.close()


def test_the_phone_layout_reaches_the_list_and_its_actions(chat: Chat) -> None:
    page = chat.page
    page.set_viewport_size({"width": 360, "height": 740})
    chat.new("from a phone")
    expect(chat.answer).to_contain_text("from a phone")
    page.get_by_role("button", name="Conversations").click()
    expect(page.locator("#chat-list")).to_be_visible()
    page.get_by_role("button", name="More for from a phone").click()
    page.locator("#row-menu").get_by_text("Rename").click()
    page.locator("#rename-title").fill("By phone")
    page.locator("#rename-title").press("Enter")
    expect(page.locator(".list-title").first).to_have_text("By phone")


def test_answers_are_read_with_highlighted_code_that_can_be_copied(chat: Chat) -> None:
    page = chat.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    chat.llm.queue.append(Reply(chunks=[RICH]))
    chat.new("Show me")
    expect(chat.answer.locator("pre .k").first).to_have_text("def")
    expect(chat.answer.locator(".code-head")).to_contain_text("python")
    chat.answer.locator(".code-copy").click()
    expect(chat.answer.locator(".code-copy")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("def squares")
    chat.act(chat.answer, "copy")
    page.wait_for_function("navigator.clipboard.readText().then((t) => t.startsWith('Two ways'))")
    assert "```python" in page.evaluate("navigator.clipboard.readText()")
    page.evaluate("navigator.clipboard.writeText('')")
    page.reload()
    chat.act(chat.answer, "copy")
    page.wait_for_function("navigator.clipboard.readText().then((t) => t.length > 0)")
    assert page.evaluate("navigator.clipboard.readText()") == RICH

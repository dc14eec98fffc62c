"""What makes the chat page pleasant: nothing scrolls away, nothing covers what is read, what is written comes
without raw signs and without a jump."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.llm_server import Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

    from tests.e2e.conftest import Chat

pytestmark = [pytest.mark.e2e, pytest.mark.sqlite_only, pytest.mark.timeout(300)]
SECOND_WORKSPACE = """
from crewsite.accounts.models import Membership, Role, User, Workspace
second = Workspace.objects.create(slug="{user}-second", name="Platform engineering and operations")
Membership.objects.create(user=User.objects.get(username="{user}"), workspace=second, role=Role.MEMBER)
"""
MANY = """
from crewsite.accounts.models import User, Workspace
from crewsite.conversations.services import conversation_create
owner, home = User.objects.get(username="{user}"), Workspace.objects.get(slug="default")
for number in range(30):
    conversation_create(owner=owner, workspace=home, title=f"Talk {{number}}")
"""


@pytest.fixture
def phone(chat: Chat) -> Iterator[Page]:
    """The same member's tab on a small screen under a finger."""
    context = chat.page.context.browser.new_context(  # type: ignore[union-attr]
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    context.add_cookies([{"name": "sessionid", "value": chat.seat.session, "url": chat.site.url}])
    yield context.new_page()
    context.close()


def test_a_new_chat_fits_a_phone_with_several_workspaces(chat: Chat, phone: Page) -> None:
    chat.site.run(SECOND_WORKSPACE.format(user=chat.seat.user))
    phone.goto(f"{chat.site.url}/chat/")
    expect(phone.locator("#start-workspace")).to_be_visible()
    assert phone.evaluate("document.documentElement.scrollWidth") == 360
    send = phone.locator(".send").bounding_box()
    assert send is not None
    assert send["x"] + send["width"] <= 360


def test_no_keyboard_comes_up_over_the_answer_on_a_phone(chat: Chat, phone: Page) -> None:
    for path in ("/chat/", f"/chat/{chat.seat.conversation}/"):
        phone.goto(f"{chat.site.url}{path}")
        expect(phone.locator("#composer-text")).not_to_be_focused()
        chat.page.goto(f"{chat.site.url}{path}")
        expect(chat.page.locator("#composer-text")).to_be_focused()


def test_the_page_does_not_scroll_behind_a_long_conversation(chat: Chat) -> None:
    chat.llm.queue.append(Reply(chunks=["A line.\n\n"] * 60))
    chat.new("Write a lot")
    expect(chat.answer.locator(".msg-body > p")).to_have_count(60)
    chat.say("And more")
    expect(chat.answer).to_contain_text("And more")
    chat.page.evaluate("scrollTo(0, 500)")
    assert chat.page.evaluate("[scrollY, document.documentElement.scrollHeight - innerHeight]") == [0, 0]


def test_text_from_right_to_left_is_aligned_and_punctuated_as_its_script_is(chat: Chat) -> None:
    chat.llm.queue.append(Reply(chunks=["هذا نص باللغة العربية.\n\n- مرحبا\n\nAnd English."]))
    chat.new("السلام عليكم.")
    expect(chat.answer.locator(".msg-body")).to_contain_text("And English.")
    chat.ended()
    gaps = chat.answer.locator(".msg-body p").evaluate_all(
        """(all) => all.map((one) => {
          const text = document.createRange(); text.selectNodeContents(one);
          const [box, words] = [one.getBoundingClientRect(), text.getBoundingClientRect()];
          return [Math.round(words.left - box.left) > 20, Math.round(box.right - words.right) > 20];
        })"""
    )
    assert gaps == [[True, False], [False, True]]
    chat.page.locator("#composer-text").fill("مرحبا.")
    assert chat.page.locator("#composer-text").evaluate("(box) => getComputedStyle(box).direction") == "rtl"


def test_the_list_shows_where_the_open_conversation_stands(chat: Chat) -> None:
    chat.site.run(MANY.format(user=chat.seat.user))
    chat.page.goto(f"{chat.site.url}/chat/{chat.seat.conversation}/")
    expect(chat.page.locator(".list-item[aria-current]")).to_be_in_viewport()
    assert chat.page.evaluate("scrollY") == 0


def test_while_an_answer_is_written_there_is_one_button_until_something_is_typed(chat: Chat) -> None:
    gate = threading.Event()
    chat.llm.queue.append(Reply(chunks=["One ", "two ", "three ", "four."], gate=gate))
    chat.new("Count")
    send, stop = chat.page.locator("#send"), chat.page.locator("#stop")
    expect(stop).to_be_visible()
    expect(send).to_be_hidden()
    expect(chat.page.locator("#composer-text")).to_be_focused()
    chat.page.locator("#composer-text").fill("next")
    expect(send).to_be_visible()
    chat.page.locator("#composer-text").fill("")
    expect(send).to_be_hidden()
    gate.set()
    chat.ended()
    expect(send).to_be_visible()
    expect(stop).to_be_hidden()


def test_a_table_shows_no_raw_bars_while_it_streams(chat: Chat) -> None:
    chat.new("hello")
    expect(chat.answer).to_contain_text("You said")
    chat.page.evaluate(
        """() => new MutationObserver(() => {
          const said = [...document.querySelectorAll(".msg-assistant .msg-body")].at(-1)?.textContent;
          window.bars ||= Boolean(said?.includes("|"));
        }).observe(document.querySelector("#messages-inner"), {
          childList: true, characterData: true, subtree: true,
        })"""
    )
    written = "Stages:\n| Stage | Runs on |\n| --- | --- |\n| Lint | a push |\n\nDone."
    chat.llm.queue.append(Reply(chunks=list(written), delay_s=0.03))
    chat.say("Show the stages")
    expect(chat.answer.locator(".msg-body")).to_contain_text("Done.")
    chat.ended()
    expect(chat.answer.locator("td")).to_have_text(["Lint", "a push"])
    assert chat.page.evaluate("window.bars") is False


def test_a_line_held_back_is_shown_before_a_tool_call(chat: Chat) -> None:
    gate = threading.Event()
    reply = Reply(chunks=["| is a bar "], tools=[("memory_recall", {"query": "bars"})])
    chat.llm.queue.extend([reply, Reply(chunks=["Done", " now", " and", " here."], gate=gate)])
    chat.new("What is a bar?")
    body = chat.answer.locator(".msg-body")
    expect(body).to_contain_text("Done")
    assert body.evaluate("(node) => [...node.children].map((one) => one.tagName)") == ["P", "DIV", "P"]
    gate.set()


def test_tasks_and_addresses_look_while_they_stream_as_they_stay(chat: Chat) -> None:
    gate = threading.Event()
    written = "- [x] done, see https://a.example/x.\n- [ ] open\n\nAnd (https://b.example/y_(z)). "
    chat.llm.queue.append(Reply(chunks=[*written, "."], gate=gate, gate_after=len(written)))
    chat.new("List it")
    body = chat.answer.locator(".msg-body")
    expect(body).to_contain_text("And")
    expect(body.locator(".live-link")).to_have_text(["https://a.example/x", "https://b.example/y_(z)"])
    expect(body.locator("li.task")).to_have_text(["☑ done, see https://a.example/x.", "☐ open"])
    gate.set()
    chat.ended()
    expect(body.locator("a")).to_have_text(["https://a.example/x", "https://b.example/y_(z)"])
    expect(body.locator("li.task")).to_have_text(["☑ done, see https://a.example/x.", "☐ open"])


def test_a_dot_tells_that_an_answer_goes_on(chat: Chat) -> None:
    gate = threading.Event()
    chat.llm.queue.append(Reply(chunks=["One ", "two ", "three ", "four."], gate=gate))
    chat.new("Count")
    expect(chat.answer).to_contain_text("three")
    dot = "(node) => getComputedStyle(node, '::before').content"
    assert chat.answer.locator(".msg-actions").evaluate(dot) == '""'
    gate.set()
    chat.ended()
    assert chat.answer.locator(".msg-actions").evaluate(dot) == "none"


def test_times_are_written_as_everywhere_on_the_site(chat: Chat) -> None:
    context = chat.page.context.browser.new_context(locale="en-US", timezone_id="UTC")  # type: ignore[union-attr]
    context.add_cookies([{"name": "sessionid", "value": chat.seat.session, "url": chat.site.url}])
    chat.new("What time is it?")
    expect(chat.answer).to_contain_text("You said")
    chat.ended()
    page = context.new_page()
    page.goto(chat.page.url)
    time = page.locator(".msg-assistant .act-time")
    assert len(time.inner_text()) == len("15:47")
    assert len(time.get_attribute("title") or "") == len("2026-11-30 15:47:12")
    context.close()

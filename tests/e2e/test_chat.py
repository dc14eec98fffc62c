"""The chat page in a real browser: streaming, stopping, versions, the list, tools that ask, keys alone."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.llm_server import Reply, text_reply

if TYPE_CHECKING:
    from playwright.sync_api import Page, WebSocketRoute

    from tests.e2e.conftest import Chat

pytestmark = [pytest.mark.e2e, pytest.mark.sqlite_only, pytest.mark.timeout(300)]
STREAM = "[script:stream n=200 delay=0.03]"


def approve(chat: Chat, *, approved: str, denied: str = "") -> None:
    chat.site.run(
        "from constance import config\n"
        f"config.CHAT_TOOLS_APPROVED, config.CHAT_TOOLS_DENIED = {approved!r}, {denied!r}"
    )


def test_a_stopped_answer_is_kept_and_tried_again(chat: Chat) -> None:
    chat.new(STREAM)
    expect(chat.answer).to_contain_text("word5")
    chat.page.get_by_role("button", name="Stop the answer").click()
    expect(chat.answer.locator(".msg-problem")).to_contain_text("Stopped.")
    expect(chat.answer).to_contain_text("word5")
    chat.llm.queue.append(text_reply("All of it this time."))
    chat.answer.get_by_role("button", name="Try again").click()
    expect(chat.answer).to_contain_text("All of it this time.")
    expect(chat.answer).not_to_contain_text("word5")
    expect(chat.page.locator(".msg-assistant")).to_have_count(1)


def test_an_edited_question_is_another_version_and_both_can_be_shown(chat: Chat) -> None:
    chat.new("What about port 8080")
    expect(chat.answer).to_contain_text("You said: What about port 8080")
    chat.say("and then")
    expect(chat.answer).to_contain_text("You said: and then")
    first = chat.page.locator(".msg-user").first
    chat.act(first, "edit")
    first.locator("textarea").fill("What about port 9090")
    first.locator("textarea").press("Enter")
    expect(chat.answer).to_contain_text("You said: What about port 9090")
    expect(chat.page.locator(".msg-user")).to_have_count(1)
    expect(chat.question.locator(".versions-at")).to_have_text("2 of 2")

    chat.page.reload()
    expect(chat.page.locator(".msg-user .msg-body")).to_have_text(["What about port 9090"])
    chat.act(chat.question, "before")
    expect(chat.page.locator(".msg-user .msg-body")).to_have_text(["What about port 8080", "and then"])
    expect(chat.answer).to_contain_text("You said: and then")
    chat.say("on the old branch")
    expect(chat.answer).to_contain_text("on the old branch")
    sent = [m["content"] for m in chat.llm.requests[-1]["messages"] if m["role"] == "user"]
    assert "What about port 8080" in str(sent)
    assert "9090" not in str(sent)


def test_another_tab_follows_the_branch(chat: Chat) -> None:
    chat.new("first words")
    expect(chat.answer).to_contain_text("You said: first words")
    other = chat.page.context.new_page()
    other.goto(chat.page.url)
    expect(other.locator(".msg-assistant")).to_contain_text("first words")
    chat.act(chat.answer, "again")
    expect(other.locator(".versions-at")).to_have_text("2 of 2")
    expect(other.locator(".msg-assistant")).to_have_count(1)
    chat.act(chat.question, "before")
    expect(other.locator(".versions-at")).to_have_text("1 of 2")


def test_titles_and_words_said_are_searched(chat: Chat) -> None:
    chat.new("Plan the harbour party")
    expect(chat.answer).to_contain_text("harbour")
    chat.new("Something else entirely")
    chat.say("the buoys are painted vermilion this year")
    expect(chat.answer).to_contain_text("vermilion")
    box = chat.page.get_by_role("searchbox")
    box.fill("harbour")
    expect(chat.page.locator(".list-item .list-title")).to_have_text(["Plan the harbour party"])
    box.fill("vermilion painting")
    found = chat.page.locator(".list-item")
    expect(found).to_have_count(1)
    expect(found.locator(".list-excerpt")).to_contain_text("painted vermilion")
    box.fill("zzzz")
    expect(chat.page.locator("#chat-list-body")).to_contain_text("Nothing matches")


def test_a_conversation_is_pinned_renamed_exported_archived_and_deleted(chat: Chat, tmp_path: Path) -> None:
    chat.new("About the lighthouse")
    expect(chat.answer).to_contain_text("lighthouse")
    page, more = chat.page, chat.page.locator("#thread-more")
    more.click()
    page.locator("#row-menu").get_by_text("Pin", exact=True).click()
    expect(page.locator(".list-day").first).to_have_text("Pinned")
    more.click()
    page.locator("#row-menu").get_by_text("Rename").click()
    page.locator("#rename-title").fill("Lighthouse keeper")
    page.locator("#rename-title").press("Enter")
    expect(page.locator("#thread-title")).to_have_text("Lighthouse keeper")

    for form, name in (("Markdown", "md"), ("JSON", "json")):
        more.click()
        with page.expect_download() as download:
            page.locator("#row-menu").get_by_text(f"Export as {form}").click()
        assert download.value.suggested_filename == f"lighthouse-keeper.{name}"
        download.value.save_as(tmp_path / name)
    assert "You said: About the lighthouse" in (tmp_path / "md").read_text()
    exported = json.loads((tmp_path / "json").read_text())
    assert [m["role"] for m in exported["messages"]] == ["user", "assistant"]

    more.click()
    page.locator("#row-menu").get_by_text("Archive", exact=True).click()
    page.wait_for_url("**/chat/")
    page.get_by_role("link", name="Archived").click()
    page.get_by_role("link", name="Lighthouse keeper").click()
    more.click()
    page.locator("#row-menu").get_by_text("Delete").click()
    dialog = page.locator("#delete-dialog")
    expect(dialog).to_contain_text("Lighthouse keeper")
    dialog.get_by_role("button", name="Cancel").click()
    expect(chat.answer).to_be_visible()
    more.click()
    page.locator("#row-menu").get_by_text("Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/chat/")
    assert chat.site.query("SELECT COUNT(*) FROM search_document WHERE text LIKE '%lighthouse%'") == [(0,)]


def test_a_tool_no_rule_names_asks_and_obeys_the_person(chat: Chat) -> None:
    approve(chat, approved="memory_*")
    try:
        chat.new('[script:learn rule="Always moor at the stern"]')
        card = chat.answer.locator(".tool")
        expect(card).to_contain_text("Save this lesson?")
        expect(card).to_contain_text("Always moor at the stern")
        card.get_by_role("button", name="Deny").click()
        expect(card).to_contain_text("Lesson not saved")
        expect(chat.answer).to_contain_text("and the answer goes on.")
        chat.say('[script:learn rule="Always moor at the bow"]')
        card = chat.answer.locator(".tool")
        card.get_by_role("button", name="Allow").click()
        expect(card).to_contain_text("Lesson saved")
        expect(card.get_by_role("button", name="Undo")).to_be_visible()
    finally:
        approve(chat, approved="learn_*,memory_*")
    rules = [row[0] for row in chat.site.query("SELECT rule FROM lessons_lesson WHERE rule LIKE '%moor%'")]
    assert rules == ["Always moor at the bow"]


def test_stopping_ends_a_question_that_waits(chat: Chat) -> None:
    approve(chat, approved="memory_*")
    try:
        chat.new('[script:learn rule="Always moor at night"]')
        card = chat.answer.locator(".tool")
        expect(card.get_by_role("button", name="Allow")).to_be_visible()
        chat.page.keyboard.press("Escape")
        expect(chat.answer.locator(".msg-problem")).to_contain_text("Stopped.")
        expect(card.get_by_role("button", name="Allow")).to_be_hidden()
    finally:
        approve(chat, approved="learn_*,memory_*")
    chat.page.reload()
    expect(chat.answer.locator(".tool")).to_contain_text("Lesson not saved")


def test_a_socket_that_drops_resumes_without_a_gap_or_a_double(chat: Chat) -> None:
    sockets: list[WebSocketRoute] = []

    def through(route: WebSocketRoute) -> None:
        sockets.append(route)
        route.connect_to_server()

    chat.page.route_web_socket("**/ws/chat/**", through)
    chat.new("[script:stream n=120 delay=0.03]")
    expect(chat.answer).to_contain_text("word8")
    sockets[-1].close(code=1012)
    expect(chat.page.locator("#connection")).to_contain_text("Reconnecting")
    expect(chat.answer).to_contain_text("word119", timeout=20_000)
    expect(chat.page.locator("#connection")).to_be_hidden()
    assert len(sockets) == 2
    words = re.findall(r"word\d+", chat.answer.locator(".msg-body").inner_text())
    assert words == [f"word{number}" for number in range(120)]
    expect(chat.page.locator(".msg-user")).to_have_count(1)


def test_a_killed_server_leaves_an_interrupted_answer_that_can_be_tried_again(chat: Chat) -> None:
    chat.new(STREAM)
    expect(chat.answer).to_contain_text("word40")
    chat.site.kill()
    expect(chat.page.locator("#connection")).to_contain_text("Reconnecting")
    chat.site.start()
    expect(chat.answer.locator(".msg-problem")).to_contain_text("Interrupted", timeout=30_000)
    expect(chat.answer).to_contain_text("word5")
    chat.llm.queue.append(text_reply("Here is all of it."))
    chat.answer.get_by_role("button", name="Try again").click()
    expect(chat.answer).to_contain_text("Here is all of it.", timeout=60_000)  # a cold start
    expect(chat.page.locator(".msg")).to_have_count(2)


def test_commands_complete_and_pick_mode_and_model(chat: Chat) -> None:
    chat.new("hello")
    expect(chat.answer).to_contain_text("You said: hello")
    box = chat.page.locator("#composer-text")
    box.press_sequentially("/inc")
    expect(chat.page.locator("#complete [role=option]")).to_have_text([re.compile("/incognito")])
    box.press("Tab")
    expect(box).to_have_value("/incognito")
    box.press("Enter")
    expect(chat.page.locator("#mode-badge")).to_have_text("Incognito")
    expect(chat.page.locator("#mode-badge")).to_have_attribute("title", "Reads memory, writes none")
    expect(chat.page.locator("#pick-mode")).to_have_value("incognito")
    chat.page.locator("#pick-model").select_option("memory")
    expect(chat.page.locator(".note").last).to_contain_text("Memory alone")
    chat.say("Anything about moons?")
    expect(chat.answer).to_contain_text("Memory holds nothing about this")
    chat.say("/help")
    expect(chat.page.locator(".note").last).to_contain_text("/model NAME")


def test_all_that_was_forgotten_at_once_comes_back_with_one_undo(chat: Chat) -> None:
    chat.new("hello there")
    chat.ended()
    kept = chat.page.locator(".tool-title")
    for line, title in (
        ("/learn Varnish the tiller in spring", "Lesson saved"),
        ("/remember The tiller was varnished by Rosa last spring.", "Remembered"),
    ):
        chat.say(line)
        expect(kept.last).to_have_text(title)
    chat.say("/forget tiller --all")
    note = chat.page.locator(".note").last
    expect(note).to_contain_text("Forgotten, 2 in all")
    note.get_by_role("button", name="Undo").click()
    expect(note).to_have_attribute("data-state", "undone")
    expect(note.get_by_role("button", name="Undo")).to_be_hidden()
    expect(chat.page.locator("#composer-text")).to_be_focused()
    chat.say("/recall tiller")
    expect(note).to_contain_text("Rosa")


def test_the_picker_shows_what_the_endpoint_offers_and_refreshes(chat: Chat) -> None:
    chat.new("hello there")
    picker = chat.page.locator("#pick-model")
    expect(picker.locator("option", has_text="Refresh this list")).to_have_count(1)
    chat.llm.models = ["scripted", "harbour-7b"]
    try:
        picker.select_option(label="Refresh this list")
        expect(picker.locator("option", has_text="harbour-7b")).to_have_count(1)
        expect(picker).to_have_value("")
        picker.select_option("harbour-7b")
        expect(chat.page.locator(".note").last).to_have_text("From the next message on: harbour-7b.")
        chat.page.reload()
        expect(picker).to_have_value("harbour-7b")
        chat.say("/model harbor-7b")
        expect(chat.page.locator(".note").last).to_contain_text("Did you mean harbour-7b?")
    finally:
        chat.llm.models = ["scripted"]


def test_everything_works_with_keys_alone(chat: Chat) -> None:
    page = chat.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{chat.site.url}/chat/")
    keys = page.keyboard
    keys.type("typed by keys")
    keys.press("Enter")
    page.wait_for_url("**/chat/*-*-*-*-*/")
    expect(chat.answer).to_contain_text("You said: typed by keys")
    expect(page.locator("#composer-text")).to_be_focused()
    chat.ended()
    keys.press("ArrowUp")
    keys.type(" again")
    keys.press("Enter")
    expect(chat.answer).to_contain_text("You said: typed by keys again")
    expect(page.locator("#composer-text")).to_be_focused()
    keys.press("Alt+c")
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "You said: typed by keys again"
    keys.press("Alt+x")
    expect(page.locator("#context-drawer")).to_contain_text("characters")
    keys.press("Escape")
    chat.ended()
    keys.press("Alt+r")
    expect(page.locator(".versions-at").last).to_have_text("3 of 3")
    expect(chat.answer).to_contain_text("typed by keys again")
    keys.press("Alt+h")
    expect(page.locator("#help")).to_be_visible()
    keys.press("Escape")
    keys.press("Control+k")
    expect(page.get_by_role("searchbox")).to_be_focused()
    keys.type("keys again")
    expect(page.locator(".list-excerpt").first).to_contain_text("typed by keys again")
    keys.press("Tab")  # the field clears itself by Escape; the first hit is next
    expect(page.locator(".list-item").first).to_be_focused()
    keys.press("Tab")
    keys.press("Enter")
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(page.locator("#rename-title")).to_be_focused()
    keys.press("Control+a")
    keys.type("Keys only")
    keys.press("Enter")
    expect(page.locator("#thread-title")).to_have_text("Keys only")


def test_an_answer_stops_by_the_escape_key(chat: Chat) -> None:
    chat.new("hello")
    expect(chat.answer).to_contain_text("You said: hello")
    keys = chat.page.keyboard
    keys.press("Alt+m")
    keys.type(STREAM)
    keys.press("Enter")
    expect(chat.answer).to_contain_text("word3")
    keys.press("Escape")
    expect(chat.answer.locator(".msg-problem")).to_contain_text("Stopped.")
    keys.press("Alt+n")
    chat.page.wait_for_url("**/chat/")


def test_too_long_a_text_is_refused_in_words_and_stays(chat: Chat) -> None:
    chat.new("hello")
    expect(chat.answer).to_contain_text("You said: hello")
    chat.say("x" * 100_001)
    box = chat.page.locator("#composer-text")
    assert box.evaluate("(box) => box.validationMessage") == (
        "A message may have 100,000 characters, this one has 100,001."
    )
    assert box.evaluate("(box) => box.value.length") == 100_001
    expect(chat.page.locator(".msg-user")).to_have_count(1)
    chat.say("short again")
    expect(chat.answer).to_contain_text("You said: short again")


def test_what_is_said_in_private_offers_no_remembering(chat: Chat) -> None:
    chat.new("hello")
    chat.page.locator("#pick-mode").select_option("temporary")
    expect(chat.page.locator("#mode-badge")).to_have_text("Temporary")
    chat.say("between us")
    expect(chat.answer).to_contain_text("You said: between us")
    expect(chat.question.locator("[data-act=remember]")).to_have_count(0)


def test_a_screen_reader_is_told_whole_answers_once(chat: Chat) -> None:
    chat.new("say it aloud")
    live = chat.page.locator("#live")
    expect(live).to_contain_text("You said: say it aloud")
    assert live.get_attribute("aria-live") == "polite"
    assert live.inner_text().count("You said: say it aloud") == 1


def test_a_citation_leads_to_its_row(chat: Chat) -> None:
    chat.new("remember that the harbour master is called Ingrid")
    expect(chat.answer.locator(".tool")).to_contain_text("Ingrid")
    row = chat.site.query("SELECT id FROM memory_episodicmemory WHERE text LIKE '%Ingrid%'")[0][0]
    chat.llm.queue.append(text_reply(f"She is called Ingrid [epi:{row}]."))
    chat.say("Who is the harbour master?")
    link = chat.answer.get_by_role("link", name=f"epi:{row}")
    expect(link).to_be_visible()
    chat.page.reload()
    link.click()
    chat.page.wait_for_url(f"**/memory/episodes/{row}/")
    expect(chat.page.locator("main")).to_contain_text("Ingrid")


def test_nothing_jumps_while_an_answer_streams(chat: Chat) -> None:
    chat.new("hello")
    expect(chat.answer).to_contain_text("You said")
    chat.page.evaluate(
        "() => { window.shifts = 0; new PerformanceObserver((list) => { for (const one of list.getEntries())"
        " window.shifts += one.value; }).observe({ type: 'layout-shift' }); }"
    )
    chat.llm.queue.append(Reply(chunks=[f"A line of text {n}.\n\n" for n in range(8)], delay_s=0.05))
    chat.say("stream, please")
    expect(chat.answer).to_contain_text("A line of text 7.")
    expect(chat.answer.locator(".msg-body > p")).to_have_count(8)
    assert chat.page.evaluate("window.shifts") < 0.02


def test_markdown_is_read_while_it_streams_and_stays_where_it_was(chat: Chat) -> None:
    gate = threading.Event()
    written = (
        "## Ways\n\n1. a **loop**\n2. `map`\n\n```python\nfor x in y:\n    pass\n```\n\n"
        "| a | b |\n| --- | ---: |\n| 1 | 2 |\n\nThat is all."
    )
    chat.llm.queue.append(
        Reply(
            chunks=[*re.findall(r".{1,4}", written, re.DOTALL), " "],
            gate=gate,
            gate_after=len(written) // 4 + 1,
        )
    )
    chat.new("Show me")
    body = chat.answer.locator(".msg-body")
    expect(body).to_contain_text("That is all.")
    expect(body).to_have_attribute("data-streaming", "")
    parts = "h2, li, strong, code, pre, td, p"
    streamed = body.locator(parts).evaluate_all(
        "(all) => all.map((one) => one.tagName + one.textContent.trim() + (one.align ?? ''))"
    )
    tops = body.locator(parts).evaluate_all(
        "(all) => all.map((one) => Math.round(one.getBoundingClientRect().top))"
    )
    gate.set()
    chat.ended()
    assert (
        body.locator(parts).evaluate_all(
            "(all) => all.map((one) => one.tagName + one.textContent.trim() + (one.align ?? ''))"
        )
        == streamed
    )
    after = body.locator(parts).evaluate_all(
        "(all) => all.map((one) => Math.round(one.getBoundingClientRect().top))"
    )
    assert max(abs(now - then) for now, then in zip(after, tops, strict=True)) <= 2


def test_a_tool_call_stands_where_it_happened_now_and_later(chat: Chat) -> None:
    chat.new('[script:learn rule="Always coil the lines"]')
    chat.ended()
    order = (
        "(body) => [...body.children].map((one) => one.matches('.cards') ? 'card' : one.textContent.trim())"
    )
    for _ in range(2):
        expect(chat.answer.locator(".tool")).to_contain_text("Lesson saved")
        assert chat.answer.locator(".msg-body").evaluate(order) == [
            "Before the tool.",
            "card",
            "and the answer goes on.",
        ]
        chat.page.reload()


def test_the_newest_line_stays_in_view_and_a_reader_is_left_alone(chat: Chat) -> None:
    lines = [f"A line of text {n}.\n\n" for n in range(60)]
    chat.llm.queue.append(Reply(chunks=lines, delay_s=0.02))
    chat.new("a long one")
    expect(chat.answer).to_contain_text("A line of text 59.")
    chat.say('[script:learn rule="Always scrub the deck"]')
    expect(chat.answer.locator(".tool")).to_contain_text("Lesson saved")
    chat.ended()
    box = "document.querySelector('#messages')"
    chat.page.wait_for_function(f"{box}.scrollHeight - {box}.scrollTop - {box}.clientHeight < 2")
    chat.llm.queue.append(Reply(chunks=lines, delay_s=0.03))
    chat.say("and another")
    expect(chat.answer).to_contain_text("A line of text 5.")
    chat.page.mouse.move(700, 300)
    chat.page.mouse.wheel(0, -600)
    expect(chat.page.locator("#jump")).to_be_visible()
    at = chat.page.locator("#messages").evaluate("(box) => box.scrollTop")
    chat.ended()
    assert abs(chat.page.locator("#messages").evaluate("(box) => box.scrollTop") - at) < 2


def test_hostile_text_is_inert_wherever_it_comes_from(chat: Chat) -> None:
    hostile = "<img src=x onerror=alert(1)> [x](javascript:alert(1))"
    fired: list[str] = []
    chat.page.on("dialog", lambda dialog: (fired.append(dialog.message), dialog.dismiss()))
    chat.new(f"remember to always {hostile}")  # user, model, lesson, title
    expect(chat.answer.locator(".tool")).to_be_visible()
    chat.say(f"/learn {hostile}")
    chat.say(f"/recall {hostile}")
    expect(chat.page.locator(".note").last).to_contain_text("onerror")
    chat.say(f"What about {hostile}?")
    expect(chat.page.locator(".msg-assistant")).to_have_count(2)
    expect(chat.answer).to_contain_text("onerror")
    chat.act(chat.answer, "context")
    expect(chat.page.locator("#context-drawer")).to_contain_text("characters")
    no_markup(chat.page)
    chat.page.reload()
    expect(chat.answer).to_be_visible()
    chat.page.get_by_role("searchbox").fill("onerror")
    expect(chat.page.locator(".list-item")).to_have_count(1)
    no_markup(chat.page)
    assert not fired


def no_markup(page: Page) -> None:
    assert page.locator("#chat img, dialog img, a[href^='javascript']").count() == 0

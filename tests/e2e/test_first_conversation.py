"""The product's main job, as a person meets it: start, sign in, teach, ask in a new conversation, look,
edit, undo."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.conftest import Started

pytestmark = [pytest.mark.e2e, pytest.mark.sqlite_only, pytest.mark.timeout(300)]


def sign_in(page: Page, site: Started) -> None:
    """With a new one-time link of the owner."""
    page.goto(site.crew("login-link").strip())
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "/login/" not in url)


def new_chat(page: Page, site: Started, text: str) -> None:
    page.goto(f"{site.url}/chat/")
    say(page, text)
    page.wait_for_url("**/chat/*-*-*-*-*/")


def say(page: Page, text: str) -> None:
    box = page.locator("#composer-text")
    box.fill(text)
    box.press("Enter")


def answer(page: Page):
    return page.locator(".msg-assistant").last


def test_the_printed_link_signs_the_owner_in_once(site: Started, page: Page) -> None:
    page.goto(site.link)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("link", name="Admin").first).to_be_visible()
    page.goto(site.link)
    expect(page.get_by_text("no longer works")).to_be_visible()


def test_what_was_taught_reaches_a_new_conversation(site: Started, page: Page) -> None:
    sign_in(page, site)
    new_chat(page, site, "remember to always use pytest")
    card = page.locator(".tool").filter(has_text="always use pytest")
    expect(card.get_by_role("button", name="Undo")).to_be_visible()
    say(page, "remember that our staging server is called heron")
    expect(answer(page)).to_contain_text("heron")

    new_chat(page, site, "Which staging server do we have, and should I use pytest?")
    expect(answer(page)).to_contain_text("heron")
    expect(answer(page)).to_contain_text("always use pytest")
    answer(page).get_by_role("button", name="Context").click()
    drawer = page.locator("#context-drawer")
    expect(drawer).to_contain_text("Learned corrections")
    expect(drawer).to_contain_text("Episodic")


def test_undo_takes_a_lesson_back(site: Started, page: Page) -> None:
    sign_in(page, site)
    new_chat(page, site, "remember to write commit messages in verse")
    card = page.locator(".tool").filter(has_text="in verse")
    card.get_by_role("button", name="Undo").click()
    expect(card).to_contain_text("ndone")
    assert "verse" not in site.crew("learn", "list", "--json")


def test_the_operator_edits_deletes_and_restores_in_admin(site: Started, page: Page) -> None:
    site.crew("learn", "add", "prefer tabs in makefiles")
    sign_in(page, site)
    page.goto(f"{site.url}/admin/lessons/lesson/")
    page.get_by_role("link", name="prefer tabs in makefiles").click()
    page.locator("[name=rule]").fill("prefer tabs in every makefile")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#result_list")).to_contain_text("prefer tabs in every makefile")

    run_admin_action(page, "prefer tabs in every makefile", "tombstone_selected")
    assert "makefile" not in site.crew("learn", "list", "--json")
    page.goto(f"{site.url}/admin/lessons/lesson/")
    run_admin_action(page, "prefer tabs in every makefile", "restore_selected")
    rules = [lesson["rule"] for lesson in json.loads(site.crew("learn", "list", "--json"))["lessons"]]
    assert "prefer tabs in every makefile" in rules


def run_admin_action(page: Page, text: str, action: str) -> None:
    page.locator("#result_list tr").filter(has_text=text).first.locator("input.action-select").check()
    page.locator("select[name=action]").select_option(action)
    page.get_by_role("button", name="Run").click()
    page.wait_for_load_state()


def test_without_a_model_it_answers_from_memory_and_says_so(bare_site: Started, page: Page) -> None:
    bare_site.crew("memory", "remember", "The office plant is a monstera named Gregor.")
    sign_in(page, bare_site)
    new_chat(page, bare_site, "What is the office plant called?")
    expect(answer(page)).to_contain_text("Gregor")
    expect(answer(page)).to_contain_text("model")


def test_status_says_which_model_embeds(bare_site: Started, page: Page) -> None:
    sign_in(page, bare_site)
    page.goto(f"{bare_site.url}/status/")
    expect(page.locator("main")).to_contain_text("minilm-l6-v2")
    expect(page.locator("main")).to_contain_text("384")
    status = json.loads(bare_site.crew("status", "--json"))
    assert status["embedder"] == {
        **status["embedder"],
        "state": "ready",
        "model_id": "minilm-l6-v2",
        "dim": 384,
    }


def test_hostile_text_is_inert_in_the_page(site: Started, page: Page) -> None:
    fired: list[str] = []
    page.on("dialog", lambda dialog: (fired.append(dialog.message), dialog.dismiss()))
    sign_in(page, site)
    new_chat(page, site, "[script:xss] <img src=x onerror=alert(1)> [x](javascript:alert(1))")
    expect(answer(page)).to_contain_text("and")
    page.reload()
    expect(answer(page)).to_be_visible()
    assert not fired
    assert page.locator(".msg img, .msg a[href^='javascript']").count() == 0


def test_a_closed_tab_does_not_lose_the_answer(site: Started, page: Page) -> None:
    sign_in(page, site)
    new_chat(page, site, "[script:stream n=60 delay=0.03]")
    expect(answer(page)).to_contain_text("word5")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(answer(page)).to_contain_text("word59", timeout=20_000)
    assert (answer(page).locator(".msg-body").inner_text()).count("word30 ") == 1

"""The dashboard by keyboard in a real browser: edit, undo, review, graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.e2e.accessible import serious
from tests.e2e.conftest import ATTACK
from tests.e2e.test_first_conversation import sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.conftest import Started

pytestmark = [pytest.mark.e2e, pytest.mark.sqlite_only, pytest.mark.timeout(300)]


def test_a_fact_is_edited_and_taken_back_without_a_mouse(filled: Started, page: Page) -> None:
    sign_in(page, filled)
    page.goto(f"{filled.url}/memory/facts/?q=pref.editor")
    page.get_by_role("button", name="Edit pref.editor").press("Enter")
    value = page.get_by_label("Value")
    expect(value).to_be_focused()
    assert serious(page) == []
    value.press("ControlOrMeta+A")
    page.keyboard.type("Neovim")
    page.keyboard.press("Control+Enter")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    assert "Neovim" in filled.crew("memory", "list", "--json")
    page.keyboard.press("Enter")
    expect(page.locator(".line").first).to_contain_text("Helix")
    assert "Neovim" not in filled.crew("memory", "list", "--json")


def test_a_lesson_is_reached_edited_and_taken_back_by_keys_alone(filled: Started, page: Page) -> None:
    sign_in(page, filled)
    page.goto(f"{filled.url}/memory/lessons/?q=tabs")
    edit = page.get_by_role("button", name="Edit Prefer tabs in makefiles")
    expect(edit).to_be_visible()
    for _ in range(60):
        page.keyboard.press("Tab")
        if edit.evaluate("(button) => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_label("Rule")).to_be_focused()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("Prefer tabs in every makefile")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    assert "every makefile" in filled.crew("learn", "list", "--json")
    page.keyboard.press("Enter")
    expect(page.locator(".line").first).to_contain_text("Prefer tabs in makefiles")
    assert "every makefile" not in filled.crew("learn", "list", "--json")


def test_escape_leaves_a_form_and_changes_nothing(filled: Started, page: Page) -> None:
    sign_in(page, filled)
    page.goto(f"{filled.url}/memory/lessons/?q=tabs")
    page.get_by_role("button", name="Edit Prefer tabs in makefiles").press("Enter")
    expect(page.get_by_label("Rule")).to_be_focused()
    assert serious(page) == []
    page.keyboard.type("Never mind. ")
    page.keyboard.press("Escape")
    expect(page.locator(".line-form")).to_have_count(0)
    expect(page.locator(".line").first).to_contain_text("Prefer tabs in makefiles")


def test_the_review_queue_is_worked_through_by_keys(filled: Started, page: Page) -> None:
    sign_in(page, filled)
    page.goto(f"{filled.url}/review/")
    proposed = page.locator(".review").filter(has_text="Prefer spaces in makefiles")
    refused = page.locator(".review").filter(has_text=ATTACK)
    expect(page.locator("[data-nav-count]")).to_have_text("2")
    page.keyboard.press("j")
    expect(page.locator(".review").first).to_be_focused()
    while not proposed.evaluate("(review) => review === document.activeElement"):
        page.keyboard.press("j")
    page.keyboard.press("m")
    expect(proposed.get_by_label("Accept it in these words")).to_be_focused()
    page.keyboard.type("jk")
    page.keyboard.press("Escape")
    expect(proposed).to_be_focused()
    page.keyboard.press("a")
    expect(proposed).to_contain_text("Accepted.")
    expect(page.locator("[data-nav-count]")).to_have_text("1")
    page.keyboard.press("u")
    expect(proposed).to_contain_text("Open again.")
    expect(page.locator("[data-nav-count]")).to_have_text("2")
    page.keyboard.press("k" if refused.evaluate("(one) => !one.previousElementSibling") else "j")
    expect(refused).to_be_focused()
    page.keyboard.press("r")
    expect(refused).to_contain_text("Rejected.")
    assert "tabs" in filled.crew("learn", "list", "--json")
    assert "previous instructions" not in filled.crew("learn", "list", "--json")


def test_the_graph_is_walked_and_opened_by_keys(filled: Started, page: Page) -> None:
    sign_in(page, filled)
    page.goto(f"{filled.url}/memory/graph/")
    page.get_by_label("Find a node").fill("heron.internal")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="project.host: heron.internal").first).to_be_focused()
    before = page.evaluate("document.activeElement.id")
    for way in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        page.keyboard.press(way)
    assert page.locator('.n[tabindex="0"]').count() == 1
    page.locator(f'[id="{before}"]').focus()
    box = page.locator("#graph").get_attribute("viewBox")
    page.keyboard.press("+")
    assert page.locator("#graph").get_attribute("viewBox") != box
    page.keyboard.press("Enter")
    expect(page.locator("#drawer")).to_contain_text("sem:project.host")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()
    page.get_by_label("Episodes").uncheck()
    expect(page.locator('.n[data-kind="episode"]').first).to_be_hidden()


def test_the_address_of_a_form_opens_it_ready_to_type_in_and_escape_leaves_it(
    filled: Started, page: Page
) -> None:
    sign_in(page, filled)
    page.goto(f"{filled.url}/memory/facts/new/")
    expect(page.get_by_label("Key", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".line-form")).to_have_count(0)
    add = page.get_by_role("link", name="Add")
    expect(add).to_be_focused()
    add.press("Enter")
    expect(page.get_by_label("Key", exact=True)).to_be_focused()


def test_filters_are_folded_on_a_phone_alone(filled: Started, page: Page) -> None:
    sign_in(page, filled)
    page.goto(f"{filled.url}/memory/facts/")
    fold, state = page.locator(".filters-more > summary"), page.get_by_label("State")
    expect(state).to_be_visible()
    expect(fold).to_be_hidden()
    page.set_viewport_size({"width": 360, "height": 740})
    expect(state).to_be_hidden()
    fold.click()
    expect(state).to_be_visible()


def test_a_chosen_workspace_is_shown_at_once(filled: Started, page: Page) -> None:
    filled.crew(
        "shell",
        "-v0",
        "-c",
        "from crewsite.accounts.models import *;"
        "w = Workspace.objects.create(name='Harbour', slug='harbour');"
        "Membership.objects.create(user=User.objects.get(), workspace=w, role=Role.OWNER)",
    )
    sign_in(page, filled)
    page.goto(f"{filled.url}/memory/facts/")
    page.get_by_label("Workspace").select_option("Harbour")
    expect(page.get_by_text("memory shared with Default")).to_be_visible()
    page.get_by_label("Workspace").select_option("Default")
    expect(page.get_by_text("memory shared with Default")).to_have_count(0)

"""Every page, light and dark, on a phone and on a desk: axe finds nothing serious, nothing is wider than the
screen, the first load is small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import httpx
import pytest

from tests.e2e.accessible import serious
from tests.e2e.test_first_conversation import sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

    from tests.e2e.conftest import Started

pytestmark = [pytest.mark.e2e, pytest.mark.sqlite_only, pytest.mark.timeout(300)]
PAGES: Final = {
    "home": "/",
    "search": "/search/?q=heron",
    "facts": "/memory/facts/",
    "episodes": "/memory/episodes/",
    "lessons": "/memory/lessons/",
    "preferences": "/memory/preferences/",
    "projects": "/memory/projects/",
    "history": "/memory/history/",
    "story": "/memory/cited/sem:project.host/",
    "graph": "/memory/graph/",
    "context": "/memory/context/?q=heron",
    "instructions": "/memory/context/instructions/",
    "review": "/review/",
    "events": "/events/",
    "jobs": "/jobs/",
    "status": "/status/",
    "connect": "/connect/",
    "models": "/settings/models/",
    "a new connection": "/settings/models/new/",
    "chat": "/chat/",
    "packet": "/chat/turns/{turn}/context/",
    "deletion of a conversation": "/chat/{conversation}/delete/",
    "nothing there": "/nowhere/",
}
ADMIN_PAGES: Final = {
    "index": "/admin/",
    "change list": "/admin/memory/semanticmemory/",
    "change list of lessons": "/admin/lessons/lesson/",
    "change page": "/admin/lessons/lesson/1/change/",
    "read-only page": "/admin/security/memoryevent/1/change/",
    "live settings": "/admin/constance/config/",
}
GATES: Final = {"login": "/login/", "used link": "/login/link/none/"}
FIRST_LOAD_BYTES: Final = 200_000  # chapter 06, 6.6
WIDTHS: Final = (360, 1280)
FINGER_PX: Final = 40
THEMES: Final = ("light", "dark")


@pytest.fixture(scope="module")
def ids(filled: Started) -> dict[str, str]:
    """A conversation with an answered turn."""
    token = filled.crew("token", "create", "--name", "axe").split()[-1]
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{filled.url}/api/v1/", headers=headers, timeout=60) as http:
        conversation = http.post("conversations/", json={}).json()["id"]
        asked = http.post(f"conversations/{conversation}/turns", json={"text": "Where is heron?"})
    return {"conversation": conversation, "turn": asked.json()["id"]}


def opened(browser: Browser, theme: Any, width: int) -> BrowserContext:
    return browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=theme, reduced_motion="reduce"
    )


def problems(page: Page) -> list[str]:
    found = serious(page)
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("wider than the screen")
    return found


def loaded(page: Page, address: str) -> float:
    """Goes there with an empty cache; how many bytes came over the wire."""
    weights: list[float] = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    session.on("Network.loadingFinished", lambda event: weights.append(event["encodedDataLength"]))
    page.goto(address, wait_until="load")
    session.detach()
    return sum(weights)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
def test_every_page_is_accessible_narrow_enough_and_light(
    filled: Started, ids: dict[str, str], browser: Browser, theme: str, width: int
) -> None:
    found = {}
    with opened(browser, theme, width) as context:
        page = context.new_page()
        sign_in(page, filled)
        for name, path in PAGES.items():
            weight = loaded(page, f"{filled.url}{path.format(**ids)}")
            wrong = problems(page) + ([f"{weight:.0f} bytes"] if weight > FIRST_LOAD_BYTES else [])
            if wrong:
                found[name] = wrong
    assert found == {}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
def test_admin_is_accessible(filled: Started, browser: Browser, theme: str, width: int) -> None:
    found = {}
    with opened(browser, theme, width) as context:
        page = context.new_page()
        sign_in(page, filled)
        for name, path in ADMIN_PAGES.items():
            assert page.goto(f"{filled.url}{path}", wait_until="networkidle").status == 200  # type: ignore[union-attr]
            if wrong := problems(page):
                found[name] = wrong
    assert found == {}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
def test_the_gates_are_accessible(filled: Started, browser: Browser, theme: str, width: int) -> None:
    found = {}
    with opened(browser, theme, width) as context:
        page = context.new_page()
        for name, path in GATES.items():
            page.goto(f"{filled.url}{path}")
            if wrong := problems(page):
                found[name] = wrong
    assert found == {}


def test_the_api_docs_follow_the_choice_of_colours(filled: Started, browser: Browser) -> None:
    background = "getComputedStyle(document.querySelector('.swagger-ui')).backgroundColor"
    with opened(browser, "light", 360) as context:
        page = context.new_page()
        page.goto(f"{filled.url}/api/v1/docs/")
        page.locator(".opblock").first.wait_for()
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        light = page.evaluate(background)
        page.get_by_role("button", name="Use dark colours").click()
        page.wait_for_function(f"{background} !== {light!r}")
        assert page.evaluate("document.documentElement.classList.contains('dark-mode')")


def test_a_finger_finds_every_button(filled: Started, browser: Browser) -> None:
    small = {}
    with browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    ) as context:
        page = context.new_page()
        sign_in(page, filled)
        for path in ("/memory/facts/", "/jobs/", "/connect/", "/settings/models/", "/review/"):
            page.goto(f"{filled.url}{path}")
            heights = page.locator(".btn:visible").evaluate_all("(all) => all.map((one) => one.offsetHeight)")
            small[path] = [height for height in heights if height < FINGER_PX]
    assert not any(small.values()), small

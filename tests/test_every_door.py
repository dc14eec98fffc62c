"""One lesson through every door of a running site: one row, and whoever comes later hears it is known."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.chat.client import ChatClient
from tests.mcp.conftest import over_http, over_stdio
from tests.site import Seat, Site, make_seats, running_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager

    from mcp import Client

pytestmark = [pytest.mark.sqlite_only, pytest.mark.slow]
Door = Callable[["Site", "Seat", str], Awaitable[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("doors")) as running:
        yield running


@pytest.fixture(scope="module")
def seat(site: Site) -> Seat:
    return make_seats(site, 1)[0]


async def by_chat(site: Site, seat: Seat, rule: str) -> str:
    async with ChatClient(site, seat) as chat:
        return str((await chat.command(f"/learn {rule}"))["data"]["outcome"])


async def by_page(site: Site, seat: Seat, rule: str) -> str:
    async with httpx.AsyncClient(base_url=site.url, cookies={"sessionid": seat.session}) as http:
        await http.get("/")
        headers = {"X-CSRFToken": http.cookies["csrftoken"], "HX-Request": "true"}
        answer = await http.post("/lessons/teach/", data={"rule": rule}, headers=headers)
    told = {"This was known already.": "unchanged", "Taught.": "inserted"}
    return next(outcome for text, outcome in told.items() if text in answer.text)


async def by_api(site: Site, seat: Seat, rule: str) -> str:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {seat.token}"}) as http:
        answer = await http.post(f"{site.url}/api/v1/lessons/", json={"rule": rule})
    return str(answer.json()["outcome"])


async def by_command(site: Site, seat: Seat, rule: str) -> str:
    command = [sys.executable, "-m", "crewsite.cli", "learn", "add", rule, "--json"]
    done = subprocess.run(command, env=site.environment, capture_output=True, text=True, check=True)
    return str(json.loads(done.stdout)["outcome"])


async def by_mcp(opened: AbstractAsyncContextManager[Client], rule: str) -> str:
    async with opened as client:
        return str((await client.call_tool("learn_add", {"rule": rule})).structured_content["outcome"])


async def by_mcp_stdio(site: Site, seat: Seat, rule: str) -> str:
    return await by_mcp(over_stdio(site, "--token", seat.token), rule)


async def by_mcp_http(site: Site, seat: Seat, rule: str) -> str:
    return await by_mcp(over_http(site, seat.token), rule)


DOORS: dict[Door, str] = {
    by_chat: "web",
    by_page: "web",
    by_api: "api",
    by_command: "cli",
    by_mcp_stdio: "mcp",
    by_mcp_http: "mcp",
}


@pytest.mark.parametrize(
    ("rule", "doors"),
    [
        ("Always name branches after issues", list(DOORS)),
        ("Never deploy on a Friday", list(reversed(DOORS))),
    ],
    ids=["web first", "agents first"],
)
async def test_one_lesson_through_all_doors_is_one_row_and_later_ones_change_nothing(
    site: Site, seat: Seat, rule: str, doors: list[Door]
) -> None:
    told = [await door(site, seat, rule) for door in doors]
    assert told == ["inserted", *["unchanged"] * (len(doors) - 1)]
    assert site.query("SELECT rule, is_deleted FROM lessons_lesson WHERE rule = ?", rule) == [(rule, 0)]
    events = site.query(
        "SELECT e.event, e.surface FROM memory_events e JOIN lessons_lesson l ON l.id = e.object_id"
        " WHERE e.memory_type = 'lesson' AND l.rule = ? ORDER BY e.id",
        rule,
    )
    assert events == [("deduped" if number else "create", DOORS[door]) for number, door in enumerate(doors)]

"""The door itself, without a server: its limit, and that it lets everything else through."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from crewsite.accounts.services import token_create
from crewsite.mcp.http import McpDoor, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crewsite.accounts.models import User, Workspace


async def site(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 299, "headers": []})


async def status_of(door: McpDoor, path: str) -> int:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1:8000")]
    scope = {"type": "http", "path": path, "method": "POST", "headers": headers, "query_string": b""}
    await door(scope, None, send)
    status: int = sent[0]["status"]
    return status


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("path", "status"), [("/mcp", 401), ("/mcp/", 401), ("/mcps", 299), ("/api/v1/mcp", 299), ("/", 299)]
)
async def test_only_its_own_address_is_its_own(path: str, status: int) -> None:
    assert await status_of(McpDoor(site), path) == status


@pytest.mark.django_db
def test_a_token_may_call_240_times_a_minute(alice: User, home: Workspace) -> None:
    door = McpDoor(site)
    headers = {"authorization": f"Bearer {token_create(user=alice, name='busy')[1]}"}
    other = {"authorization": f"Bearer {token_create(user=alice, name='calm')[1]}"}
    for _ in range(240):
        door._caller_of(headers, "")
    with pytest.raises(Refused) as raised:
        door._caller_of(headers, "")
    assert (raised.value.status, raised.value.headers["retry-after"]) == (429, "60")
    assert door._caller_of(other, "").user == alice


async def test_a_start_that_failed_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    door = McpDoor(site)
    build = door._build

    def failing() -> Any:
        msg = "no memory left"
        raise OSError(msg)

    monkeypatch.setattr(door, "_build", failing)
    with pytest.raises(OSError, match="no memory left"):
        await door._manager()
    monkeypatch.setattr(door, "_build", build)
    async with asyncio.timeout(20):
        assert await door._manager() is await door._manager()


async def test_a_transport_that_does_not_come_up_keeps_no_request_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken:
        @asynccontextmanager
        async def run(self) -> AsyncIterator[None]:
            msg = "no task group"
            raise RuntimeError(msg)
            yield

    door = McpDoor(site)
    monkeypatch.setattr(door, "_build", Broken)
    async with asyncio.timeout(20):
        with pytest.raises(RuntimeError, match="no task group"):
            await door._manager()

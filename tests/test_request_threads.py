"""On which threads requests are answered: that they stay, and that none is used by two at once."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.http import HttpResponse
from django.test import override_settings
from django.urls import path

from crewsite import request_threads
from crewsite.chat import threads as kept_threads
from crewsite.request_threads import RequestHandler

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.http import HttpRequest

pytestmark = pytest.mark.django_db(transaction=True)
holding: list[int] = []  # the threads that `hold` has begun on
held = threading.Event()
used: list[BaseDatabaseWrapper] = []


def where(request: HttpRequest) -> HttpResponse:
    connection.ensure_connection()
    used.append(connections[DEFAULT_DB_ALIAS])
    return HttpResponse(f"{threading.get_ident()} {id(connection.connection)}")


def hold(request: HttpRequest) -> HttpResponse:
    holding.append(threading.get_ident())
    held.wait(10)
    return where(request)


async def awaited(request: HttpRequest) -> HttpResponse:
    await asyncio.sleep(0)
    return HttpResponse("from the loop")


urlpatterns = [path("where", where), path("hold", hold), path("awaited", awaited)]


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(kept_threads, "CONNECTION_AGE_S", 5.0)
    holding.clear()
    held.clear()
    used.clear()
    with override_settings(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=[]):
        yield RequestHandler()
    held.set()


async def ask(handler: RequestHandler, name: str, *, gone: bool = False) -> str:
    """The answer to one request, of a client that stays or hangs up once `hold` has begun."""
    said: list[bytes] = []
    asked = False

    async def receive() -> dict[str, Any]:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": b""}
        while not gone or not holding:
            await asyncio.sleep(0.01)
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        said.append(message.get("body", b""))

    scope = {"type": "http", "method": "GET", "path": f"/{name}", "headers": [], "query_string": b""}
    await handler(scope, receive, send)
    return b"".join(said).decode()


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(500):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("It did not come about.")


async def at_rest(handler: RequestHandler, threads: int) -> None:
    """A client may have its answer a moment before the thread rests."""
    await until(lambda: len(handler._idle) == threads)


@pytest.mark.sqlite_only  # a server's connections are not kept
def test_a_later_request_finds_the_thread_and_the_connection_of_an_earlier_one(handler: Any) -> None:
    async def two() -> tuple[str, str]:
        first = await ask(handler, "where")
        await at_rest(handler, 1)
        return first, await ask(handler, "where")

    first, second = asyncio.run(two())
    assert first == second


def test_a_slow_view_keeps_no_other_request_waiting(handler: Any) -> None:
    async def both() -> tuple[str, str]:
        slow = asyncio.create_task(ask(handler, "hold"))
        await until(lambda: bool(holding))
        quick = await ask(handler, "where")
        held.set()
        return await slow, quick

    slow, quick = asyncio.run(both())
    assert slow.split()[0] != quick.split()[0]


def test_the_thread_of_a_client_that_hung_up_rests_once_its_view_is_done(handler: Any) -> None:
    async def hang_up() -> None:
        leaving = asyncio.create_task(ask(handler, "hold", gone=True))
        await until(lambda: bool(holding))
        assert int((await ask(handler, "where")).split()[0]) not in holding
        await at_rest(handler, 1)
        held.set()
        await leaving
        await at_rest(handler, 2)

    asyncio.run(hang_up())


def test_a_view_of_the_loop_is_answered_too(handler: Any) -> None:
    assert asyncio.run(ask(handler, "awaited")) == "from the loop"


def test_no_more_threads_than_meant_stay_after_a_rush(handler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_threads, "IDLE_THREADS", 2)

    async def rush() -> None:
        asked = [asyncio.create_task(ask(handler, "hold")) for _ in range(5)]
        await until(lambda: len(holding) == 5)
        assert len(set(holding)) == 5
        held.set()
        await asyncio.gather(*asked)
        await until(lambda: len({thread.ident for thread in threading.enumerate()} & set(holding)) == 2)

    asyncio.run(rush())


def test_a_thread_that_ends_closes_its_connection(handler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_threads, "IDLE_THREADS", 0)

    async def one() -> None:
        await ask(handler, "where")
        await until(lambda: used[0].connection is None)

    asyncio.run(one())

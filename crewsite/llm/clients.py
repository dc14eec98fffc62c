"""HTTP clients of model calls: one a loop for everybody, and one of its own for a conversation that kept
failing. What is sent over them is the providers'."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from crewsite.llm.ahead import current_ahead
from crewsite.llm.constants import CONNECT_TIMEOUT_S, OWN_CLIENTS_MAX, RESET_AFTER_FAILURES, TOTAL_TIMEOUT_S
from crewsite.llm.errors import html_answer, redirected

if TYPE_CHECKING:
    import httpx2


@dataclass(slots=True)
class _LoopClients:
    """A connection belongs to the event loop it was opened in, so each loop keeps its own clients."""

    shared: httpx2.AsyncClient | None = None
    own: OrderedDict[str, httpx2.AsyncClient] = field(default_factory=OrderedDict)


_clients: WeakKeyDictionary[Any, _LoopClients] = WeakKeyDictionary()
_failures: dict[str, int] = {}


def http_client(owner: str = "") -> httpx2.AsyncClient:
    """The client of the running loop; that of `owner`, a conversation, if it was given one by a reset."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return _new_client()
    mine = _clients.setdefault(loop, _LoopClients())
    if owner in mine.own:
        mine.own.move_to_end(owner)
        return mine.own[owner]
    if mine.shared is None or mine.shared.is_closed:
        mine.shared = _new_client()
    return mine.shared


async def close_http_client() -> None:
    """Close the running loop's clients. For a loop that ends after one call."""
    mine = _clients.pop(asyncio.get_running_loop(), None)
    if mine is None:
        return
    for client in [mine.shared, *mine.own.values()]:
        if client is not None:
            await client.aclose()


def turn_succeeded(owner: str) -> None:
    _failures.pop(owner, None)


async def turn_failed(owner: str) -> bool:
    """Count one more failed turn in a row. At the fifth the conversation gets a client of its own, with no
    connection that an earlier call left behind; True then."""
    count = _failures[owner] = _failures.get(owner, 0) + 1
    if count < RESET_AFTER_FAILURES:
        return False
    del _failures[owner]
    mine = _clients.setdefault(asyncio.get_running_loop(), _LoopClients())
    old = mine.own.pop(owner, None)
    mine.own[owner] = _new_client()
    retired = [old] if old is not None else []
    if len(mine.own) > OWN_CLIENTS_MAX:
        retired.append(mine.own.popitem(last=False)[1])
    for client in retired:
        await client.aclose()
    return True


def _new_client() -> httpx2.AsyncClient:
    """No redirects: an endpoint that moves is a wrong setting, and a key must not follow it."""
    import httpx2

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(TOTAL_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
        follow_redirects=False,
        event_hooks={"response": [_refuse_detours, _merge_events]},
    )


async def _refuse_detours(response: httpx2.Response) -> None:
    """A redirect, or a 200 with HTML: a login or landing page, which read as a stream looks like an empty
    answer."""
    if response.has_redirect_location:
        await response.aclose()
        raise redirected()
    if response.is_success and response.headers.get("content-type", "").startswith("text/html"):
        await response.aclose()
        raise html_answer()


async def _merge_events(response: httpx2.Response) -> None:
    """Deltas that arrived together are handled as one, and text is told ahead where somebody listens."""
    from crewsite.llm.merging import EVENT_STREAM, MergedEvents

    if response.headers.get("content-type", "").startswith(EVENT_STREAM):
        response.stream = MergedEvents(response.stream, current_ahead())  # type: ignore[arg-type]

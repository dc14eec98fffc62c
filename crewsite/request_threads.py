"""On which thread the web process answers a page or an API call: one from the first middleware to the last,
which stays for later requests with its connection to the database file. Websockets and MCP have their own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import connections

from crewsite.chat.threads import keep_connection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from django.http import HttpRequest, HttpResponseBase

# Idle threads that are kept, as many as requests that people and programs of a small site have under way at
# once. More requests get threads of their own, which end with them.
IDLE_THREADS: Final = 8


class RequestHandler(ASGIHandler):
    """Django's handler takes a new thread for each request, on which the database is opened anew, and goes
    there and back for every middleware. Here the whole chain is one call."""

    def __init__(self) -> None:
        self._idle: list[ThreadPoolExecutor] = []
        super().__init__()

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: FBT001, FBT002 - Django's
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = await sync_to_async(self.get_response)(request)
        return response

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        thread = self._idle.pop() if self._idle else ThreadPoolExecutor(1, "request", keep_connection)
        try:
            async with ThreadSensitiveContext(executor=thread):
                await super().__call__(scope, receive, send)
        finally:
            # By the thread itself: a client may be gone before the view is done.
            thread.submit(self._rest, thread)

    def _rest(self, thread: ThreadPoolExecutor) -> None:
        if len(self._idle) < IDLE_THREADS:
            self._idle.append(thread)
        else:
            thread.shutdown(wait=False)
            # It would stay open, three files each, until garbage is looked for.
            connections.close_all()

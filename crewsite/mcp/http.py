"""MCP over streamable HTTP at `/mcp`, in front of Django: who may come in, and the SDK's transport behind it.
Stateless: every request carries its token and nothing is kept between two, so any process may answer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from crewsite.accounts.errors import AccountsError
from crewsite.accounts.origins import origin_allowed
from crewsite.accounts.tokens import HEADER_WORDS, token_find, token_touch
from crewsite.chat.limits import RateLimit, wait_for_nobody
from crewsite.chat.threads import in_database
from crewsite.mcp.callers import Caller, caller_resolve, client_label
from crewsite.mcp.constants import CALLS_PER_MINUTE, DEFAULT_PROFILE, HTTP_PATH, PROFILES, RETRY_AFTER_S
from crewsite.mcp.models import ToolCall

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

CALLER_KEY: Final = "crew.caller"
INVALID_REQUEST: Final = -32600


class Refused(Exception):
    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers


class McpDoor:
    """An ASGI application: `/mcp` is ours, everything else goes on to the site."""

    def __init__(self, site: Any) -> None:
        self.site = site
        self.limit = RateLimit(CALLS_PER_MINUTE)
        self._starting: asyncio.Task[StreamableHTTPSessionManager] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"].rstrip("/") != HTTP_PATH:
            await self.site(scope, receive, send)
            return
        try:
            caller = await self._admit(scope)
        except Refused as refusal:
            await _refuse(send, refusal)
            return
        manager = await self._manager()
        await manager.handle_request({**scope, CALLER_KEY: caller}, receive, send)

    async def caller(self, context: Any) -> Caller:
        """For the handlers: who was admitted with this very request."""
        from crewsite.mcp.server import client_name

        found: Caller = context.request.scope[CALLER_KEY]
        named = client_name(context)
        return replace(found, client=client_label(named)) if named else found

    async def _admit(self, scope: Any) -> Caller:
        headers = {name.decode("latin1").lower(): value.decode("latin1") for name, value in scope["headers"]}
        _check_host(headers.get("host", ""))
        if "origin" in headers and not origin_allowed(headers["origin"]):
            raise Refused(403, "Pages of this origin may not use this server.")
        if scope["method"] != "POST":
            # Nothing is pushed to clients and no session is kept, so there is nothing to GET or DELETE.
            raise Refused(405, "Send requests with POST.", allow="POST")
        address = (scope.get("client") or ("",))[0]
        return await in_database(self._caller_of, headers, scope["query_string"].decode("latin1"), address)

    def _caller_of(self, headers: dict[str, str], query: str, address: str = "") -> Caller:
        word, _, plaintext = headers.get("authorization", "").partition(" ")
        token = token_find(plaintext.strip()) if word.lower().encode() in HEADER_WORDS else None
        if token is None:
            if wait := wait_for_nobody(address):
                raise Refused(429, "Too many requests without a known token.", **{"retry-after": str(wait)})
            said = (
                "The token is unknown, expired or revoked." if word else "Send: Authorization: Bearer TOKEN."
            )
            raise Refused(401, said, **{"www-authenticate": 'Bearer realm="crewsite"'})
        if not self.limit.allow(token.digest):
            raise Refused(429, f"At most {CALLS_PER_MINUTE} a minute.", **{"retry-after": str(RETRY_AFTER_S)})
        token_touch(token)
        asked = {name: values[-1] for name, values in parse_qs(query).items()}
        profile = asked.get("profile", DEFAULT_PROFILE)
        if profile not in PROFILES:
            raise Refused(400, f"There is no profile {profile[:50]!r}. Known: {', '.join(PROFILES)}.")
        try:
            return caller_resolve(
                user=token.user,
                token=token,
                transport=ToolCall.Transport.HTTP,
                slug=asked.get("workspace", ""),
                profile=profile,
                client=headers.get("user-agent", ""),
            )
        except AccountsError as error:
            raise Refused(404, str(error)) from None

    async def _manager(self) -> StreamableHTTPSessionManager:
        """The SDK's transport, loaded in a thread by the first request: its import takes a second. One that
        could not start, or has ended since, is begun anew."""
        if self._starting is None or (self._running is not None and self._running.done()):
            self._running = None
            self._starting = asyncio.create_task(self._start())
        starting = self._starting
        try:
            return await asyncio.shield(starting)
        except Exception:
            if self._starting is starting:
                self._starting = None
            raise

    async def _start(self) -> StreamableHTTPSessionManager:
        manager = await asyncio.to_thread(self._build)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        running = asyncio.create_task(_keep_running(manager, ready))
        await asyncio.wait([ready, running], return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()  # raises what kept it from starting
        self._running = running
        return manager

    def _build(self) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from crewsite.mcp.server import build_server

        return StreamableHTTPSessionManager(
            build_server(self, version=settings.CREW_VERSION),
            json_response=True,
            stateless=True,
            max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        )


async def _keep_running(manager: StreamableHTTPSessionManager, ready: asyncio.Future[None]) -> None:
    """For the life of the process: the web server has no lifespan that could hold it."""
    async with manager.run():
        ready.set_result(None)
        await asyncio.Event().wait()


def _check_host(host: str) -> None:
    """The rule of every page: against a foreign name that was made to point here."""
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        raise Refused(400, "This server does not answer to that host name.")


async def _refuse(send: Any, refusal: Refused) -> None:
    error = {"code": INVALID_REQUEST, "message": str(refusal)}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = {"content-type": "application/json", "cache-control": "no-store", **refusal.headers}
    pairs = [(name.encode(), value.encode("latin1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})

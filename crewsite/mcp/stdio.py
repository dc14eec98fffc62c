"""`crew mcp`: the server of one coding agent, over standard input and output. Django starts in the
background, so that the handshake is answered before the apps are loaded; messages go to standard error."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import traceback
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any, NoReturn

from crewsite.mcp.constants import DEFAULT_PROFILE, EMBEDDER_WAIT_S, PROFILES

if TYPE_CHECKING:
    from crewsite.accounts.models import ApiToken, User
    from crewsite.mcp.callers import Caller


@dataclass(frozen=True, slots=True)
class Options:
    workspace: str = ""
    token: str = ""
    profile: str = DEFAULT_PROFILE


class NotAllowed(Exception):
    """Why this process may not serve; the text is for the person who set the agent up."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workspace", default="", metavar="SLUG", help="default: the token's, else default")
    parser.add_argument(
        "--token", default="", help="act as its person, within its scopes (default: operator)"
    )
    parser.add_argument("--profile", default=DEFAULT_PROFILE, choices=list(PROFILES), help="which tools")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="crew mcp", description="Serves memory to one coding agent (MCP).")
    add_arguments(parser)
    return serve(Options(**vars(parser.parse_args(words))))


def serve(options: Options) -> int:
    """Blocks until the client closes standard input."""
    gc.disable()  # a seventh of the start is spent looking for garbage in what imports leave behind
    asyncio.run(_serve(options))
    return 0


async def _serve(options: Options) -> None:
    from mcp.server.stdio import stdio_server

    from crewsite.mcp.server import build_server

    door = LocalDoor(options)
    server = build_server(door, version=metadata.version("crewsite"))
    async with stdio_server() as (incoming, outgoing):
        starting = door.start()
        serving = asyncio.create_task(server.run(incoming, outgoing, server.create_initialization_options()))
        await asyncio.wait({starting, serving}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done() and (problem := starting.exception()):
            _give_up(problem)
        await serving


def _give_up(problem: BaseException) -> NoReturn:
    """End at once: the thread that reads standard input cannot be interrupted, and the client would wait."""
    if isinstance(problem, NotAllowed):
        sys.stderr.write(f"crew mcp: {problem}\n")
    else:
        traceback.print_exception(problem)
    sys.stderr.flush()
    os._exit(1)


class LocalDoor:
    """The one client of this process. Without a token it acts as the operator: whoever may read the home is
    trusted (chapter 13, 13.9)."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._started: asyncio.Task[None] | None = None

    def start(self) -> asyncio.Task[None]:
        self._started = asyncio.create_task(asyncio.to_thread(self._prepare))
        return self._started

    async def caller(self, context: Any) -> Caller:
        assert self._started is not None  # noqa: S101 - requests come after the start
        await asyncio.shield(self._started)
        from mcp.shared.exceptions import MCPError
        from mcp_types import INVALID_REQUEST

        from crewsite.chat.threads import in_tool_thread
        from crewsite.mcp.server import client_name

        try:
            return await in_tool_thread(self._resolve, client_name(context))
        except NotAllowed as refusal:
            raise MCPError(INVALID_REQUEST, str(refusal)) from None

    def _prepare(self) -> None:
        """Everything that takes time, and the first look at workspace and token."""
        import django

        django.setup()
        from django.db import DatabaseError, connection

        from crewsite.embeddings.service import start_loading
        from crewsite.jobs.storage import store_refusal
        from crewsite.mcp.catalogue import all_tools

        try:
            self._resolve("")
        except DatabaseError as error:
            hint = "" if store_refusal(error) else " Not set up yet? Run: make run"
            raise NotAllowed(f"The database does not answer: {error}.{hint}") from error
        finally:
            connection.close()
        all_tools()
        gc.freeze()
        gc.enable()
        start_loading()

    def _resolve(self, client: str) -> Caller:
        from crewsite.accounts.errors import AccountsError
        from crewsite.embeddings.service import get_embedder
        from crewsite.mcp.callers import caller_resolve
        from crewsite.mcp.models import ToolCall

        user, token = self._person()
        try:
            found = caller_resolve(
                user=user,
                token=token,
                transport=ToolCall.Transport.STDIO,
                slug=self.options.workspace,
                profile=self.options.profile,
                client=client,
            )
        except AccountsError as error:
            raise NotAllowed(str(error)) from None
        if client:
            get_embedder().wait_ready(EMBEDDER_WAIT_S)
        return found

    def _person(self) -> tuple[User, ApiToken | None]:
        from crewsite.accounts.services import owner_ensure
        from crewsite.accounts.tokens import token_find, token_touch

        if not self.options.token:
            return owner_ensure(), None
        token = token_find(self.options.token)
        if token is None:
            raise NotAllowed("The token is unknown, expired or revoked.")
        token_touch(token)
        return token.user, token

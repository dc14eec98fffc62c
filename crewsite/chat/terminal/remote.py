"""Chatting on another site over its REST API: turns as a stream of events, slash commands and answers to tool
calls as operations of their own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from django.core.management.base import CommandError

from crewsite.accounts.server import (
    API,
    CONNECT_S,
    READ_S,
    Refusal,
    api_call,
    refuse_problem,
    unreachable,
)
from crewsite.chat.commands import is_command
from crewsite.chat.terminal.door import Opened, Told

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crewsite.accounts.server import Server
    from crewsite.chat.payloads import Frame

EVENTS: Final = "text/event-stream"


class RemoteChat:
    """Talks as the token's person. Follows `door.ChatDoor`."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._conversation: dict[str, Any] = {}
        self._turn = ""

    def open(self, *, conversation: str, mode: str, model: str) -> Opened:
        changes = {name: value for name, value in (("mode", mode), ("model", model)) if value}
        try:
            if not conversation:
                self._conversation = api_call(self._server, "POST", "/conversations/", body=changes)
            else:
                path = f"/conversations/{_uuid(conversation)}"
                self._conversation = (
                    self._call("PATCH", path, body=changes) if changes else self._call("GET", path)
                )
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        one = self._conversation
        return Opened(one["id"], one["title"], one["mode"], one["model"] or "default", one["workspace"])

    def _call(self, method: str, path: str, *, body: Any = None, **query: Any) -> Any:
        """A conversation has its workspace: none is named."""
        return api_call(replace(self._server, workspace=""), method, path, body=body, **query)

    def is_command(self, text: str) -> bool:
        return is_command(text)

    def command(self, text: str) -> Told:
        path = f"/conversations/{self._conversation['id']}/commands"
        try:
            told = self._call("POST", path, body={"text": text})
        except Refusal as refusal:
            return Told(str(refusal), ok=False, data={"code": refusal.code})
        return Told(told["text"], told["ok"], told["data"])

    async def ask(self, text: str) -> AsyncIterator[Frame]:
        import httpx

        url = f"{self._server.url}{API}/conversations/{self._conversation['id']}/turns"
        headers = {**self._server.headers, "Accept": EVENTS, "Idempotency-Key": uuid.uuid4().hex}
        timeout = httpx.Timeout(READ_S, connect=CONNECT_S)
        try:
            async with (
                httpx.AsyncClient(timeout=timeout) as client,
                client.stream("POST", url, json={"text": text}, headers=headers) as answer,
            ):
                if EVENTS not in answer.headers.get("content-type", ""):
                    await answer.aread()
                    refuse_problem(self._server, answer)
                async for item in _events(answer):
                    self._turn = item["turn"] if item["type"] == "turn" else self._turn
                    yield item
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unreachable(self._server, error) from error
        except Refusal as refusal:
            yield {"type": "turn.failed", "reason": str(refusal), "message": None}
        self._turn = ""

    async def answer(self, item: Frame, choice: str) -> None:
        path = f"/conversations/{self._conversation['id']}/turns/{item['turn']}/answers"
        body = {"call": item["id"], "choice": choice}
        with contextlib.suppress(Refusal):  # it waits no longer, and the stream says what became of it
            await asyncio.to_thread(self._call, "POST", path, body=body)

    async def stop(self) -> Frame | None:
        turn, self._turn = self._turn, ""
        if not turn:
            return None
        path = f"/conversations/{self._conversation['id']}/turns/{turn}/stop"
        try:
            stopped = self._call("POST", path, body={})
        except Refusal:
            return None  # it ended in the same moment
        return {"type": "turn.done", "message": stopped["answer"], "injected": stopped["injected"]}


async def _events(answer: Any) -> AsyncIterator[Frame]:
    """The events of a stream as frames; the first names the turn."""
    name = ""
    async for line in answer.aiter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield {**json.loads(value), "type": name}


def _uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError as error:
        raise CommandError(f"{text!r} is no id of a conversation.") from error

"""Chatting on another site over its REST API: turns as a stream of events, and the slash commands that
there are operations for."""

from __future__ import annotations

import json
import uuid
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
from crewsite.chat.commands import NEGATIVE, is_command
from crewsite.chat.constants import MEMORY_HITS
from crewsite.chat.terminal.door import Opened, Told

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crewsite.accounts.server import Server
    from crewsite.chat.payloads import Frame

EVENTS: Final = "text/event-stream"
MODES: Final = {"/incognito": "incognito", "/temporary": "temporary", "/persistent": "persistent"}
USAGE: Final = (
    "/remember TEXT",
    f"/learn RULE [{NEGATIVE} WHAT NOT TO DO]",
    "/recall QUERY",
    "/memory stats",
    *MODES,
    "/model NAME",
    "/new",
    "/help",
)


class RemoteChat:
    """Talks as the token's person. Follows `door.ChatDoor`."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._conversation: dict[str, Any] = {}
        self._turn = ""

    @property
    def asks_at(self) -> str:
        """The API has no operation for the answer to a tool call."""
        return f"{self._server.url}/chat/{self._conversation['id']}/"

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
        server = type(self._server)(self._server.url, self._server.token)
        return api_call(server, method, path, body=body, **query)

    def is_command(self, text: str) -> bool:
        return is_command(text)

    def command(self, text: str) -> Told:
        name, _, argument = text.strip().partition(" ")
        try:
            return self._command(name.lower(), argument.strip())
        except Refusal as refusal:
            return Told(str(refusal), ok=False, data={"code": refusal.code})

    def _command(self, name: str, argument: str) -> Told:
        if name in MODES:
            return self._changed("mode", MODES[name])
        if name == "/model" and argument:
            return self._changed("model", "" if argument == "default" else argument)
        if name == "/new":
            kept = {field: self._conversation[field] for field in ("mode", "model", "project")}
            made = self._in_workspace("POST", "/conversations/", body=kept)
            return Told("A new conversation is open.", data={"conversation": made["id"]})
        if name == "/memory":
            layers = self._in_workspace("GET", "/memory/stats")["layers"]
            rows = [
                f"{layer}: {count['live']}, {count['deleted']} deleted" for layer, count in layers.items()
            ]
            return Told("\n".join(rows))
        if name == "/help" or not argument:
            return Told("\n".join(USAGE), ok=name == "/help")
        return self._with_memory(name, argument)

    def _with_memory(self, name: str, argument: str) -> Told:
        mode = self._conversation["mode"]
        if name == "/recall":
            if mode == "temporary":
                return Told("This conversation is temporary: memory is not read in it.", ok=False)
            found = self._in_workspace("GET", "/memory/search", q=argument, limit=MEMORY_HITS)
            lines = [f"- {hit['text']} [{hit['citation']}]" for hit in found["hits"]]
            return Told("\n".join(lines) or "Memory holds nothing about this.", data=found)
        if name not in {"/remember", "/learn"}:
            return Told(f"{name} works on the page or without --server. Here: {', '.join(USAGE)}", ok=False)
        if mode != "persistent":
            return Told(f"This conversation is {mode}: nothing is written to memory.", ok=False)
        if name == "/remember":
            kept = self._in_workspace("POST", "/memory/episodic/", body={"text": argument})
            return Told(f"Saved: “{kept['episode']['text']}” [epi:{kept['episode']['id']}]", data=kept)
        rule, _, negative = argument.partition(NEGATIVE)
        body = {"rule": rule.strip(), "negative": negative.strip()}
        kept = self._in_workspace("POST", "/lessons/", body=body)
        return Told(f"Kept: “{kept['lesson']['rule']}” [les:{kept['lesson']['id']}]", data=kept)

    def _changed(self, name: str, value: str) -> Told:
        path = f"/conversations/{self._conversation['id']}"
        self._conversation = self._call("PATCH", path, body={name: value})
        return Told(f"From the next message on: {value or 'default'}.", data={name: value})

    def _in_workspace(self, method: str, path: str, *, body: Any = None, **query: Any) -> Any:
        return self._call(method, path, body=body, workspace=self._conversation["workspace"], **query)

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
        return None

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

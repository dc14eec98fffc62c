"""A scripted model server, OpenAI-compatible and Anthropic's: real HTTP on loopback, every way an endpoint
behaves or misbehaves.

A script is chosen by a queue (`server.queue.append(Reply(...))`), else by a marker in the last user message
such as `[script:stream n=200 delay=0.01]`, else the server plays a small assistant: it calls `learn_add` or
`memory_remember` when asked to remember something, answers questions from the lines of its instructions
that share words with them, and consolidates a conversation as `consolidating_model` does.

Alone: `python -m tests.llm_server --port 9999`, then CREW_LLM_BASE_URL=http://127.0.0.1:9999/v1
CREW_LLM_MODEL=scripted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from tests import anthropic_wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MARKER = re.compile(r"\[script:(\w+)((?:\s+\w+=(?:\"[^\"]*\"|[^\s\]]+))*)\s*\]")
PARAMETER = re.compile(r"(\w+)=(?:\"([^\"]*)\"|([^\s\]]+))")
WORD = re.compile(r"\w{4,}")
REASONS = {
    200: "OK",
    401: "Unauthorized",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Error",
    502: "Bad Gateway",
}


@dataclass
class Reply:
    """One answer. `chunks` are streamed `delay_s` apart after `first_delay_s`; `tools` are (name, arguments)
    pairs.

    `status` other than 200 answers with `body`. `raw` replaces the event stream; `cut_after` drops the
    connection after that many chunks; after `gate_after` chunks the stream waits for `gate`.
    """

    chunks: list[str] = field(default_factory=list)
    tools: list[tuple[str, Any]] = field(default_factory=list)
    delay_s: float = 0.0
    first_delay_s: float = 0.0
    status: int = 200
    body: str = ""
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    raw: str | None = None
    cut_after: int | None = None
    gate: threading.Event | None = None
    gate_after: int = 3


def text_reply(text: str, **fields: Any) -> Reply:
    return Reply(chunks=re.findall(r"\S+\s*|\s+", text), **fields)


def error_body(message: str, code: str) -> str:
    return json.dumps({"error": {"message": message, "type": code, "code": code}})


class LlmServer:
    """`with LlmServer() as server:` serves until the block ends. `requests` holds every body received, in
    order."""

    def __init__(self, port: int = 0, *, api_key: str = "") -> None:
        self.port = port
        self.api_key = api_key
        self.requests: list[dict[str, Any]] = []
        self.queue: deque[Reply] = deque()
        self.refusals: dict[str, int] = {}
        self.models: list[str] | None = ["scripted"]  # None: it has no list
        self.lists_asked = 0
        self.title_requests: list[dict[str, Any]] = []
        self.title = json_error(400, error_body("no titles here", "unavailable"))
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="llm-server", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(5)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def environment(self) -> dict[str, str]:
        """What connects a site to this server."""
        return {
            "CREW_LLM_BASE_URL": self.url,
            "CREW_LLM_MODEL": "scripted",
            "CREW_LLM_API_KEY": self.api_key or "any",
        }

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", self.port))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._exchange(reader, writer):
                pass
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; False ends the connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        path = lines[0].split(" ")[1]
        if path.partition("?")[0].endswith("/models"):
            await self._list(writer, headers)
            return True
        if path.endswith("/messages"):
            return await self._anthropic(writer, headers, json.loads(raw))
        if not path.endswith("/chat/completions"):
            await send(writer, 404, error_body("no such page", "not_found"))
            return True
        if self.api_key and headers.get("authorization") != f"bearer {self.api_key}".lower():
            await send(writer, 401, error_body("Incorrect API key provided", "invalid_api_key"))
            return True
        body = json.loads(raw)
        return await self._answer(writer, body, self._reply(body))

    def _reply(self, body: dict[str, Any]) -> Reply:
        """A title is asked for beside the turn, at any time after it: it takes no queued reply, and no test
        has to count with it."""
        if "Name the conversation" in text_of(body["messages"][0]):
            self.title_requests.append(body)
            return self.title
        self.requests.append(body)
        return self.queue.popleft() if self.queue else self.reply_for(body)

    async def _list(self, writer: asyncio.StreamWriter, headers: dict[str, str]) -> None:
        self.lists_asked += 1
        if self.api_key and not self._shows_key(headers):
            await send(writer, 401, error_body("Incorrect API key provided", "invalid_api_key"))
        elif self.models is None:
            await send(writer, 404, error_body("no such page", "not_found"))
        else:
            rows = [{"id": name, "object": "model"} for name in self.models]
            await send(writer, 200, json.dumps({"object": "list", "data": rows}))

    def _shows_key(self, headers: dict[str, str]) -> bool:
        """Older clients of Anthropic name the key by a header of its own, newer ones as everybody does."""
        shown = {headers.get("x-api-key"), headers.get("authorization", "").removeprefix("bearer ")}
        return self.api_key.lower() in shown

    async def _anthropic(
        self, writer: asyncio.StreamWriter, headers: dict[str, str], body: dict[str, Any]
    ) -> bool:
        if self.api_key and not self._shows_key(headers):
            await send(writer, 401, anthropic_wire.error_body(401, "invalid x-api-key"))
            return True
        reply = self._reply(anthropic_wire.as_chat(body))
        if reply.status != 200:
            text = anthropic_wire.error_body(reply.status, "scripted")
            await send(writer, reply.status, text, headers=reply.headers)
            return True
        if not body.get("stream"):
            await send(
                writer, 200, json.dumps(anthropic_wire.message(body, reply, anthropic_wire.blocks(reply)))
            )
            return True
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        async for event in anthropic_wire.events(body, reply):
            if event is None:
                writer.transport.abort()
                return False
            data = f"event: {event[0]}\ndata: {json.dumps({'type': event[0], **event[1]})}\n\n".encode()
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _answer(self, writer: asyncio.StreamWriter, body: dict[str, Any], reply: Reply) -> bool:
        if reply.status != 200 or reply.raw is not None:
            text = reply.body if reply.raw is None else reply.raw
            await send(writer, reply.status, text, content_type=reply.content_type, headers=reply.headers)
            return True
        if not body.get("stream"):
            await asyncio.sleep(reply.first_delay_s)
            if reply.cut_after is not None:
                writer.transport.abort()
                return False
            await send(writer, 200, json.dumps(completion(body, reply)))
            return True
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        async for piece in events(body, reply):
            if piece is None:
                writer.transport.abort()
                return False
            data = f"data: {piece}\n\n".encode()
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def reply_for(self, body: dict[str, Any]) -> Reply:
        offered = {tool["function"]["name"] for tool in body.get("tools", [])}
        if offered & {"preferences_pass", "history_pass"}:
            from tests.consolidating_model import consolidated

            return Reply(tools=[consolidated(body)])
        messages = body["messages"]
        user = next((text_of(m) for m in reversed(messages) if m["role"] == "user"), "")
        after_tool = messages[-1]["role"] == "tool"
        marker = MARKER.search(user)
        if marker:
            parameters = {name: quoted or bare for name, quoted, bare in PARAMETER.findall(marker[2])}
            return getattr(self, f"script_{marker[1]}")(user, parameters, after_tool)
        return self.assistant(body, user, after_tool=after_tool)

    def assistant(self, body: dict[str, Any], user: str, *, after_tool: bool) -> Reply:
        """The small assistant that plays when nothing is scripted."""
        messages = body["messages"]
        if after_tool:
            return text_reply(f"Done. {text_of(messages[-1])}")
        offered = {tool["function"]["name"] for tool in body.get("tools", [])}
        rule = re.search(r"remember to (.+)", user, re.IGNORECASE | re.DOTALL)
        if rule and "learn_add" in offered:
            return Reply(
                chunks=["I will ", "keep that. "], tools=[("learn_add", {"rule": rule[1].strip(" .")})]
            )
        fact = re.search(r"remember (?:that )?(.+)", user, re.IGNORECASE | re.DOTALL)
        if fact and "memory_remember" in offered and not user.rstrip().endswith("?"):
            return Reply(chunks=["Noted. "], tools=[("memory_remember", {"text": fact[1].strip()})])
        if user.rstrip().endswith("?"):
            known = lines_about(user, "\n".join(text_of(m) for m in messages if m["role"] == "system"))
            if known:
                return text_reply("From memory:\n\n" + "\n".join(f"- {line}" for line in known))
        return text_reply(f"You said: {user}")

    def script_stream(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        count = int(p.get("n", 20))
        return Reply(chunks=[f"word{i} " for i in range(count)], delay_s=float(p.get("delay", 0)))

    def script_xss(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        return text_reply(
            "<img src=x onerror=alert(1)> and [x](javascript:alert(1)) and ![p](https://evil.example/p.png)"
        )

    def script_slow(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        return text_reply("finally here", first_delay_s=float(p.get("delay", 1)))

    def script_cut(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        return Reply(chunks=[f"word{i} " for i in range(20)], cut_after=int(p.get("after", 3)), delay_s=0.01)

    def script_html(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        page = "<!doctype html><title>Log in</title><h1>Log in</h1>"
        return Reply(
            status=int(p.get("status", 200)), body=page, raw=page, content_type="text/html; charset=utf-8"
        )

    def script_empty(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        return Reply(raw="data: [DONE]\n\n")

    def script_blank(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        return Reply(chunks=[""])

    def script_malformed(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        return Reply(raw="data: {this is not json\n\n")

    def script_key(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        return json_error(401, error_body("Incorrect API key provided: sk-abc", "invalid_api_key"))

    def script_model(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        return json_error(404, error_body("The model does not exist", "model_not_found"))

    def script_busy(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        """429 for the first `times` requests with this text, then an answer."""
        seen = self.refusals[user] = self.refusals.get(user, 0) + 1
        if seen > int(p.get("times", 2)):
            return text_reply("thanks for waiting")
        reply = json_error(429, error_body("Rate limit reached", "rate_limit_exceeded"))
        reply.headers["Retry-After"] = p.get("after", "0.01")
        return reply

    def script_down(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        reply = json_error(500, error_body("boom", "server_error"))
        reply.headers["Retry-After"] = "0.01"
        return reply

    def script_learn(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        if after_tool:
            return text_reply("and the answer goes on.")
        return Reply(
            chunks=["Before ", "the tool. "],
            tools=[("learn_add", {"rule": p.get("rule", "Always use pytest")})],
        )

    def script_remember(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        if after_tool:
            return text_reply("It is kept.")
        return Reply(
            tools=[("memory_remember", {"text": p.get("text", "The staging host is called atlas.")})]
        )

    def script_recall(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        if after_tool:
            return text_reply("That is what I found.")
        return Reply(tools=[("memory_recall", {"query": p.get("query", "staging host")})])

    def script_unknown(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        return (
            text_reply("I carry on without it.") if after_tool else Reply(tools=[("no_such_tool", {"a": 1})])
        )

    def script_stubborn(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        return Reply(tools=[("no_such_tool", {"a": 1})])

    def script_badargs(self, user: str, p: dict[str, str], after_tool: bool) -> Reply:
        return (
            text_reply("I gave up on the tool.") if after_tool else Reply(tools=[("learn_add", "{not json")])
        )


def json_error(status: int, body: str) -> Reply:
    return Reply(status=status, body=body, content_type="application/json")


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return str(content)


def lines_about(question: str, instructions: str) -> list[str]:
    """Lines of the instructions that share a longer word with the question, at most five."""
    asked = {word.lower() for word in WORD.findall(question)}
    lines = (line.strip(" -") for line in instructions.splitlines())
    return [line for line in lines if asked & {word.lower() for word in WORD.findall(line)}][:5]


def tool_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "index": index,
            "id": f"call_{time.monotonic_ns()}_{index}",
            "type": "function",
            "function": {"name": name, "arguments": args if isinstance(args, str) else json.dumps(args)},
        }
        for index, (name, args) in enumerate(reply.tools)
    ]


def completion(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(reply.chunks)}
    if reply.tools:
        message["tool_calls"] = tool_calls(reply)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", "scripted"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.tools else "stop"}
        ],
        "usage": usage(reply),
    }


def header(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": body.get("model", "scripted")}


def usage(reply: Reply) -> dict[str, int]:
    return {
        "prompt_tokens": 10,
        "completion_tokens": len(reply.chunks),
        "total_tokens": 10 + len(reply.chunks),
    }


async def events(body: dict[str, Any], reply: Reply) -> AsyncIterator[str | None]:
    """The payloads of a stream; None says: drop the connection here."""

    def chunk(delta: dict[str, Any], finish: str | None = None, **extra: Any) -> str:
        return json.dumps(
            {
                **header(body, "chat.completion.chunk"),
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
                **extra,
            }
        )

    await asyncio.sleep(reply.first_delay_s)
    yield chunk({"role": "assistant", "content": ""})
    for index, text in enumerate(reply.chunks):
        if index == reply.cut_after:
            yield None
            return
        yield chunk({"content": text})
        if reply.gate is not None and index + 1 == reply.gate_after:
            await asyncio.to_thread(reply.gate.wait, 30)
        elif reply.delay_s:
            await asyncio.sleep(reply.delay_s)
    for call in tool_calls(reply):
        yield chunk({"tool_calls": [call]})
    yield chunk({}, "tool_calls" if reply.tools else "stop")
    yield chunk({}, usage=usage(reply)).replace(
        '"choices": [{"index": 0, "delta": {}, "finish_reason": null}]', '"choices": []'
    )
    yield "[DONE]"


async def send(
    writer: asyncio.StreamWriter,
    status: int,
    body: str,
    *,
    content_type: str = "application/json",
    headers: dict[str, str] | None = None,
) -> None:
    data = body.encode()
    extra = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}\r\nContent-Type: {content_type}\r\n{extra}"
    writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    await writer.drain()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=9999)
    with LlmServer(parser.parse_args().port) as server:
        print(f"scripted model at {server.url}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()

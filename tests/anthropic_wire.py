"""Anthropic's Messages API over the scripted server's replies: a request as the server reads it, an answer
and a stream as Anthropic's own client expects them."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.llm_server import Reply


def as_chat(body: dict[str, Any]) -> dict[str, Any]:
    """The request in the form of `/chat/completions`."""
    system = body.get("system") or ""
    if isinstance(system, list):
        system = "\n".join(block["text"] for block in system)
    messages = [{"role": "system", "content": system}] if system else []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [block for block in blocks if block["type"] == "tool_result"]
        for block in results:
            inner = block.get("content") or ""
            text = inner if isinstance(inner, str) else "".join(part.get("text", "") for part in inner)
            messages.append({"role": "tool", "content": text})
        text = "".join(block.get("text", "") for block in blocks if block["type"] == "text")
        if text or not results:
            messages.append({"role": message["role"], "content": text})
    tools = [
        {"type": "function", "function": {"name": tool["name"], "parameters": tool.get("input_schema", {})}}
        for tool in body.get("tools", [])
    ]
    return {**body, "messages": messages, **({"tools": tools} if tools else {})}


def error_body(status: int, message: str) -> str:
    kinds = {
        401: "authentication_error",
        404: "not_found_error",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    return json.dumps(
        {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": message}}
    )


def blocks(reply: Reply) -> list[dict[str, Any]]:
    text = "".join(reply.chunks)
    found: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for index, (name, args) in enumerate(reply.tools):
        found.append(
            {"type": "tool_use", "id": f"toolu_{time.monotonic_ns()}_{index}", "name": name, "input": args}
        )
    return found


def message(body: dict[str, Any], reply: Reply, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": content,
        "stop_reason": "tool_use" if reply.tools else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": len(reply.chunks)},
    }


async def events(body: dict[str, Any], reply: Reply) -> AsyncIterator[tuple[str, dict[str, Any]] | None]:
    """The named events of a stream; None says: drop the connection here."""
    await asyncio.sleep(reply.first_delay_s)
    start = {**message(body, reply, []), "stop_reason": None}
    yield "message_start", {"message": start}
    index = 0
    if reply.chunks:
        yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
        for number, text in enumerate(reply.chunks):
            if number == reply.cut_after:
                yield None
                return
            yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": text}}
            if reply.delay_s:
                await asyncio.sleep(reply.delay_s)
        yield "content_block_stop", {"index": 0}
        index = 1
    for block in blocks(reply)[index:]:
        yield "content_block_start", {"index": index, "content_block": {**block, "input": {}}}
        text = json.dumps(block["input"])
        yield (
            "content_block_delta",
            {"index": index, "delta": {"type": "input_json_delta", "partial_json": text}},
        )
        yield "content_block_stop", {"index": index}
        index += 1
    end = message(body, reply, [])
    yield (
        "message_delta",
        {"delta": {"stop_reason": end["stop_reason"], "stop_sequence": None}, "usage": end["usage"]},
    )
    yield "message_stop", {}

"""A turn's frames as an OpenAI client reads them: one completion, or chunks of one. The turn itself is run
and told by chat."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from crewsite.api.openai.requests import OpenAIError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from crewsite.chat.models import Turn
    from crewsite.chat.payloads import Frame

DONE: Final = "data: [DONE]\n\n"
PING: Final = ": ping\n\n"
FINISH: Final = frozenset({"length", "content_filter"})  # all else ended as it should, or was stopped


def completion(turn: Turn, closed: Frame) -> dict[str, Any]:
    """The whole answer. Raises OpenAIError for a turn that failed."""
    raise_if_failed(closed)
    message = closed["message"] or {"content": ""}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": message["content"], "refusal": None},
        "logprobs": None,
        "finish_reason": _finish(closed),
    }
    return {**_head(turn, "chat.completion"), "choices": [choice], "usage": _usage(closed)}


def raise_if_failed(closed: Frame) -> None:
    if closed["type"] == "turn.failed":
        raise OpenAIError(
            503 if closed["retryable"] else 502, closed["reason"], code="model_failed", kind="server_error"
        )


async def chunks(turn: Turn, frames: AsyncIterator[Frame], *, include_usage: bool) -> AsyncIterator[str]:
    """Server-sent events: the role, the text as it comes, the end, and the usage if it was asked for."""
    yield _event(_chunk(turn, {"role": "assistant", "content": ""}))
    async for item in frames:
        match item["type"]:
            case "delta":
                yield _event(_chunk(turn, {"content": item["text"]}))
            case "ping":
                yield PING
            case "turn.done" | "turn.failed":
                for event in _ending(turn, item, include_usage=include_usage):
                    yield event
            case _:
                pass
    yield DONE


def _ending(turn: Turn, closed: Frame, *, include_usage: bool) -> Iterator[str]:
    try:
        raise_if_failed(closed)
    except OpenAIError as error:
        yield _event(error.body)
        return
    yield _event(_chunk(turn, {}, finish=_finish(closed)))
    if include_usage:
        yield _event({**_head(turn, "chat.completion.chunk"), "choices": [], "usage": _usage(closed)})


def _head(turn: Turn, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{turn.pk.hex}",
        "object": kind,
        "created": int(turn.created_at.timestamp()),
        "model": turn.model or "default",
    }


def _chunk(turn: Turn, delta: dict[str, str], *, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**_head(turn, "chat.completion.chunk"), "choices": [choice]}


def _finish(closed: Frame) -> str:
    ended = str(closed.get("finish_reason", ""))
    return ended if ended in FINISH else "stop"


def _usage(closed: Frame) -> dict[str, int]:
    used = closed.get("usage") or {}
    asked, answered = used.get("input_tokens", 0), used.get("output_tokens", 0)
    return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}


def _event(body: dict[str, Any]) -> str:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"

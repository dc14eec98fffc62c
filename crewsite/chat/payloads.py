"""The frames a socket sends, as plain JSON-able values. One function per frame; what is in them is the
protocol."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from crewsite.chat.constants import FRAME_MAX_BYTES, FRAME_TEXT_CHARS, PROTOCOL_VERSION
from crewsite.chat.models import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

    from crewsite.conversations.branches import Versions
    from crewsite.conversations.models import Conversation, Message

Frame = dict[str, Any]
UTF8_BYTES_MAX: Final = 4  # of one character
_encode: Final = json.JSONEncoder(ensure_ascii=False).encode


def frame(kind: str, /, **fields: Any) -> Frame:
    return {"v": PROTOCOL_VERSION, "type": kind, **fields}


def frame_text(item: Frame) -> str:
    """A frame as JSON of at most `FRAME_MAX_BYTES`. A message too long for one goes without its HTML, its
    tool calls and at last its content; `cut` names what is missing, which the page and the API have."""
    text = _json(item)
    if len(text) <= FRAME_MAX_BYTES // UTF8_BYTES_MAX:
        return text
    for name in ("html", "tool_calls", "content"):
        if len(text.encode()) <= FRAME_MAX_BYTES:
            break
        item = _without(item, name)
        text = _json(item)
    return text


def _json(item: Frame) -> str:
    return _encode(item).encode("utf-8", "replace").decode()


def _without(item: Frame, name: str) -> Frame:
    empty: Any = [] if name == "tool_calls" else ""
    slim = {**item, "cut": [*item.get("cut", ()), name]}
    if name in slim:
        slim[name] = empty
    if isinstance(slim.get("message"), dict):
        slim["message"] = {**slim["message"], name: empty}
    return slim


def hello_frame(
    conversation: Conversation, *, model: str, degraded: Sequence[str], running: UUID | None, last_seq: int
) -> Frame:
    return frame(
        "hello",
        conversation=str(conversation.pk),
        title=conversation.title,
        mode=conversation.mode,
        model=model,
        degraded=list(degraded),
        turn=str(running) if running else None,
        last_seq=last_seq,
        branch=branch_mark(conversation),
    )


def branch_mark(conversation: Conversation) -> str:
    """Changes whenever another branch becomes the visible one."""
    return conversation.branched_at.isoformat() if conversation.branched_at else ""


def branch_frame(conversation: Conversation, *, hidden: Sequence[int] | None = None) -> Frame:
    """`hidden`: what a new version took the place of. Null: the branch was chosen, read the page anew."""
    return frame("branch", branch=branch_mark(conversation), hidden=None if hidden is None else list(hidden))


def message_fields(message: Message, *, turn: Turn | None = None, versions: Versions | None = None) -> Frame:
    fields = {
        "id": message.pk,
        "seq": message.seq,
        "role": message.role,
        "content": message.content,
        "html": message.content_html,
        "author_label": message.author_label,
        "created_at": message.created_at.isoformat(),
        "finish_reason": message.finish_reason,
        "tool_calls": message.tool_calls,
        "turn": str(turn.pk) if turn else None,
        "client_key": turn.client_key if turn and turn.user_message_id == message.pk else None,
    }
    if versions is not None:
        fields["versions"] = {"ids": list(versions.ids), "at": versions.at}
    return fields


def message_frame(message: Message, *, turn: Turn | None = None, versions: Versions | None = None) -> Frame:
    return frame("message", message=message_fields(message, turn=turn, versions=versions))


def turn_started_frame(turn: Turn, *, is_retry: bool = False) -> Frame:
    return frame(
        "turn.started",
        turn=str(turn.pk),
        state=turn.state,
        message=turn.user_message_id,
        client_key=turn.client_key,
        model=turn.model,
        title=turn.conversation.title,
        retry_of=str(turn.pk) if is_retry else None,
        context=context_summary(turn.packet),
    )


def context_summary(packet: dict[str, Any]) -> Frame:
    """How much of what went in; the whole packet is a page of its own."""
    blocks = packet.get("blocks", [])
    return {
        "blocks": [
            {
                "name": block.get("name"),
                "chars": block.get("chars", 0),
                "state": block.get("state"),
                "rows": len(block.get("sources", [])),
            }
            for block in blocks
        ],
        "chars": packet.get("total_chars", 0),
        "injected": sum(len(block.get("sources", [])) for block in blocks if block.get("text")),
        "degraded": packet.get("degraded", []),
    }


def delta_frame(turn_id: UUID, offset: int, text: str) -> Frame:
    """`offset` counts Unicode code points from the start of the answer."""
    return frame("delta", turn=str(turn_id), offset=offset, text=text)


def delta_frames(turn_id: UUID, offset: int, text: str) -> Iterator[Frame]:
    """A text in pieces that fit into frames."""
    for start in range(0, len(text), FRAME_TEXT_CHARS):
        yield delta_frame(turn_id, offset + start, text[start : start + FRAME_TEXT_CHARS])


def tool_frame(turn_id: UUID, call: dict[str, Any]) -> Frame:
    return frame(
        "tool",
        turn=str(turn_id),
        id=call["id"],
        name=call["name"],
        state=call["state"],
        args=call["args_summary"],
        result=call.get("summary", ""),
        data=call.get("data", {}),
        choices=call.get("choices", []) if call["state"] == "asking" else [],
        at=call.get("at"),
    )


def turn_closed_frame(turn: Turn) -> Frame:
    """`turn.done` for an answered or stopped turn, `turn.failed` for a failed one; both carry what was
    kept."""
    message = turn.assistant_message
    fields = message_fields(message, turn=turn) if message else None
    if turn.state == Turn.State.FAILED:
        return frame(
            "turn.failed", turn=str(turn.pk), reason=turn.error, retryable=turn.retryable, message=fields
        )
    return frame(
        "turn.done",
        turn=str(turn.pk),
        message=fields,
        html=message.content_html if message else "",
        usage=message.usage if message else {},
        injected=injected_rows(turn.packet),
        finish_reason=message.finish_reason if message else "stopped",
    )


def turn_gone_frame(turn_id: UUID) -> Frame:
    """The end of a turn that has no row any more."""
    reason = "The conversation was deleted, and its answers with it."
    return frame("turn.failed", turn=str(turn_id), reason=reason, retryable=False, message=None)


def injected_rows(packet: dict[str, Any]) -> list[Frame]:
    sources: Iterable[Frame] = (
        source
        for block in packet.get("blocks", [])
        if block.get("text")
        for source in block.get("sources", [])
    )
    return [
        {"kind": source.get("kind"), "object_id": source.get("object_id"), "citation": source.get("citation")}
        for source in sources
    ]


def notice_frame(text: str, *, html: str = "", level: str = "info", data: Frame | None = None) -> Frame:
    return frame("notice", text=text, html=html, level=level, data=data or {})


def error_frame(code: str, message: str, /, **fields: Any) -> Frame:
    return frame("error", code=code, message=message, **fields)

"""Frames a client may send, parsed and checked. A frame that is none of them is refused with the rule it
breaks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from crewsite.chat.constants import CLIENT_KEY_MAX_CHARS, MESSAGE_MAX_CHARS, PROTOCOL_VERSION
from crewsite.security.text import clean

UNDO_KINDS: Final = ("lesson", "semantic", "episodic")
RESTORED_MAX: Final = 100  # more than any command or tool takes away at once
ATTACHMENTS_MAX: Final = 20
ATTACHMENT_NAME_CHARS: Final = 200


class BadFrame(Exception):
    def __init__(self, code: str, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.code = code
        self.fields = fields


@dataclass(frozen=True, slots=True)
class Send:
    client_key: str
    text: str
    attachments: tuple[dict[str, Any], ...] = ()
    edits: int | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    turn: UUID


@dataclass(frozen=True, slots=True)
class Retry:
    turn: UUID


@dataclass(frozen=True, slots=True)
class Resume:
    after_seq: int
    turn: UUID | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Command:
    text: str


@dataclass(frozen=True, slots=True)
class Undo:
    kind: str
    id: int


@dataclass(frozen=True, slots=True)
class Restore:
    """Bring back forgotten rows, each (kind, id)."""

    rows: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """Show this version of a question."""

    message: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person says to a tool call that asks them."""

    turn: UUID
    call: str
    choice: str


@dataclass(frozen=True, slots=True)
class Pong:
    """An answer to a ping; nothing to do."""

    fields: dict[str, Any] = field(default_factory=dict)


READING = (Resume, Pong)  # need no right to write
Request = Send | Stop | Retry | Resume | Command | Undo | Restore | Branch | Answer | Pong


def parse(text: str) -> Request:
    """Raises BadFrame."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        raise BadFrame("bad_json", "The frame is not JSON.") from None
    if not isinstance(raw, dict):
        raise BadFrame("bad_frame", "A frame is a JSON object.")
    if raw.get("v", PROTOCOL_VERSION) != PROTOCOL_VERSION:
        raise BadFrame("bad_version", f"This server speaks version {PROTOCOL_VERSION}.")
    read = _READERS.get(kind) if isinstance(kind := raw.get("type"), str) else None
    if read is None:
        raise BadFrame("unknown_type", f"Frames are of type {', '.join(_READERS)}.")
    return read(raw)


def _resume(raw: dict[str, Any]) -> Resume:
    turn = _turn(raw) if raw.get("turn") else None
    return Resume(_count(raw, "after_seq"), turn, _count(raw, "offset"))


def _send(raw: dict[str, Any]) -> Send:
    key = raw.get("client_key")
    if not isinstance(key, str) or not 0 < len(key) <= CLIENT_KEY_MAX_CHARS:
        raise BadFrame("bad_client_key", f"client_key is a text of 1 to {CLIENT_KEY_MAX_CHARS} characters.")
    if key != clean(key):
        raise BadFrame("bad_client_key", "client_key holds a control character or half of a surrogate pair.")
    listed = raw.get("attachments") or []
    if not isinstance(listed, list) or len(listed) > ATTACHMENTS_MAX:
        raise BadFrame(
            "bad_attachments", f"attachments is a list of at most {ATTACHMENTS_MAX}.", client_key=key
        )
    names = tuple(
        {"name": clean(str(item.get("name", "")))[:ATTACHMENT_NAME_CHARS]}
        for item in listed
        if isinstance(item, dict)
    )
    try:
        edits = _id(raw, "edits") if raw.get("edits") is not None else None
        return Send(key, _text(raw), names, edits)
    except BadFrame as error:
        raise BadFrame(error.code, str(error), client_key=key) from None


def _text(raw: dict[str, Any]) -> str:
    text = raw.get("text")
    if not isinstance(text, str) or not clean(text).strip():
        raise BadFrame("empty", "The text is empty.")
    if len(text) > MESSAGE_MAX_CHARS:
        raise BadFrame(
            "too_long", f"The text has {len(text):,} characters; at most {MESSAGE_MAX_CHARS:,} are allowed."
        )
    return text


def _turn(raw: dict[str, Any]) -> UUID:
    try:
        return UUID(str(raw.get("turn")))
    except ValueError:
        raise BadFrame("bad_turn", "turn is the id of a turn.") from None


def _count(raw: dict[str, Any], name: str) -> int:
    value = raw.get(name) or 0
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise BadFrame("bad_number", f"{name} is a whole number from 0.")
    return value


def _id(raw: dict[str, Any], name: str) -> int:
    value = raw.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**63:
        raise BadFrame("bad_number", f"{name} is the id of a message.")
    return value


def _answer(raw: dict[str, Any]) -> Answer:
    call, choice = raw.get("call"), raw.get("choice")
    if not isinstance(call, str) or not isinstance(choice, str) or not call or not choice:
        raise BadFrame("bad_answer", "call is the id of a tool call, choice the id of one of its choices.")
    return Answer(_turn(raw), call, choice)


def _undo(raw: dict[str, Any]) -> Undo:
    return Undo(*_row(raw))


def _restore(raw: dict[str, Any]) -> Restore:
    rows = raw.get("rows")
    if not isinstance(rows, list) or not 0 < len(rows) <= RESTORED_MAX:
        raise BadFrame("bad_undo", f"rows is a list of 1 to {RESTORED_MAX} rows.")
    return Restore(tuple(dict.fromkeys(_row(row if isinstance(row, dict) else {}) for row in rows)))


def _row(raw: dict[str, Any]) -> tuple[str, int]:
    kind, object_id = raw.get("kind"), raw.get("id")
    is_number = isinstance(object_id, int) and not isinstance(object_id, bool) and abs(object_id) < 2**63
    if kind not in UNDO_KINDS or not is_number or object_id is None:
        raise BadFrame("bad_undo", f"kind is one of {', '.join(UNDO_KINDS)}, id a number.")
    return str(kind), int(object_id)


_READERS: Final[dict[str, Callable[[dict[str, Any]], Request]]] = {
    "send": _send,
    "stop": lambda raw: Stop(_turn(raw)),
    "retry": lambda raw: Retry(_turn(raw)),
    "resume": _resume,
    "command": lambda raw: Command(_text(raw)),
    "undo": _undo,
    "restore": _restore,
    "branch": lambda raw: Branch(_id(raw, "message")),
    "answer": _answer,
    "pong": lambda _raw: Pong(),
}

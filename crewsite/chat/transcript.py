"""What the chat page shows of a conversation before the first frame arrives: the lines of its visible
branch."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Q

from crewsite.chat.keeping import KEPT
from crewsite.chat.models import Turn
from crewsite.conversations.branches import Versions, versions_of
from crewsite.conversations.models import Message
from crewsite.conversations.rendering import rendered

if TYPE_CHECKING:
    from crewsite.conversations.models import Conversation

TRANSCRIPT_ROWS: Final = 200
ENDED_BADLY: Final = (Turn.State.FAILED, Turn.State.CANCELLED)
QUIET: Final = frozenset({"stopped", "length"})
ENDINGS: Final = {
    "stopped": "Stopped.",
    "interrupted": "Interrupted: the server went away during this answer.",
    "length": "Cut off: the model reached the longest answer it may give.",
    "content_filter": "Broken off: the model's provider kept the rest back.",
}
SHOWN_ROLES: Final = (Message.Role.USER, Message.Role.ASSISTANT, Message.Role.SYSTEM)


@dataclass(frozen=True, slots=True)
class Line:
    """One message with what its turn says about it."""

    message: Message
    html: str
    turn: Turn | None
    cards: list[str] = field(default_factory=list)  # frames of tool calls as JSON, drawn by the page's script
    problem: str = ""
    is_quiet: bool = False  # it ended as it was told to; no alarm
    can_retry: bool = False
    versions: Versions | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    lines: list[Line]
    last_seq: int
    running: list[Turn]
    has_earlier: bool


def transcript(conversation: Conversation, *, whole: bool = False) -> Transcript:
    """The last lines, or all of them. Constant queries whatever the length."""
    rows = conversation.messages.filter(is_current=True, role__in=SHOWN_ROLES).order_by("-seq")
    newest = list(rows if whole else rows[: TRANSCRIPT_ROWS + 1])
    has_earlier = not whole and len(newest) > TRANSCRIPT_ROWS
    messages = newest[:TRANSCRIPT_ROWS][::-1] if has_earlier else newest[::-1]
    turns = list(conversation.turns.filter(Q(user_message__in=messages) | Q(assistant_message__in=messages)))
    asked = {turn.user_message_id: turn for turn in turns}
    answered = {turn.assistant_message_id: turn for turn in turns if turn.assistant_message_id}
    active = [turn for turn in turns if _still_running(turn)]
    gone = _gone_rows(messages)
    versions = versions_of([message for message in messages if message.pk in asked])
    lines = [
        _line(message, asked.get(message.pk), answered.get(message.pk), gone, versions.get(message.pk))
        for message in messages
        if not _still_running(answered.get(message.pk))
    ]
    lines = _answers_after_questions(lines)
    return Transcript(lines, messages[-1].seq if messages else 0, active, has_earlier)


def _answers_after_questions(lines: list[Line]) -> list[Line]:
    """A question that was asked while an earlier one was still answered does not come between the two."""
    answers = {line.turn.pk: line for line in lines if line.turn and line.message.role != Message.Role.USER}
    asked = {line.turn.pk for line in lines if line.turn and line.message.role == Message.Role.USER}
    ordered: list[Line] = []
    for line in lines:
        if line.message.role == Message.Role.USER:
            answer = answers.get(line.turn.pk) if line.turn else None
            ordered += [line, answer] if answer else [line]
        elif line.turn is None or line.turn.pk not in asked:
            ordered.append(line)
    return ordered


def _still_running(turn: Turn | None) -> bool:
    """A running answer is drawn by the page's script, which asks for it from its first character."""
    return turn is not None and turn.state in (Turn.State.QUEUED, Turn.State.RUNNING)


def _calls(message: Message) -> list[dict[str, Any]]:
    return [call for call in message.tool_calls if isinstance(call, dict)]


def _gone_rows(messages: list[Message]) -> set[tuple[str, int]]:
    """What tools of these messages saved and somebody has deleted since: one query for each kind."""
    saved: dict[str, set[int]] = {kind: set() for kind in KEPT}
    for message in messages:
        for call in _calls(message):
            data = call.get("data") or {}
            if data.get("kind") in saved and isinstance(data.get("id"), int):
                saved[data["kind"]].add(data["id"])
    gone: set[tuple[str, int]] = set()
    for kind, ids in saved.items():
        if ids:
            live = KEPT[kind].objects.filter(pk__in=ids).values_list("pk", flat=True)
            gone |= {(kind, object_id) for object_id in ids.difference(live)}
    return gone


def _card(call: dict[str, Any], gone: set[tuple[str, int]]) -> str:
    data = call.get("data") or {}
    return json.dumps(
        {
            "id": call.get("id"),
            "name": call.get("name"),
            "state": call.get("state", "done"),
            "args": call.get("args_summary", ""),
            "result": call.get("summary", ""),
            "data": data,
            "at": call.get("at"),
            "gone": (data.get("kind"), data.get("id")) in gone,
        }
    )


def _line(
    message: Message,
    asked: Turn | None,
    answered: Turn | None,
    gone: set[tuple[str, int]],
    versions: Versions | None,
) -> Line:
    if message.role == Message.Role.USER:
        lost = asked is not None and asked.assistant_message_id is None and asked.state in ENDED_BADLY
        return Line(
            message,
            "",
            asked,
            problem=(asked.error or "Stopped.") if asked is not None and lost else "",
            can_retry=lost and asked is not None and asked.retryable,
            versions=versions,
        )
    problem = ENDINGS.get(message.finish_reason, "")
    if answered is not None and answered.state == Turn.State.FAILED:
        problem = problem or answered.error
    return Line(
        message,
        rendered(message.content_html),
        answered,
        cards=[_card(call, gone) for call in _calls(message)],
        problem=problem,
        is_quiet=message.finish_reason in QUIET,
        can_retry=bool(problem) and answered is not None and answered.retryable,
    )

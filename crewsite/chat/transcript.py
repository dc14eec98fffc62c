"""What the chat page shows before the first frame arrives: the list of conversations and the lines of one of
them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from crewsite.chat.models import Turn
from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.rendering import render_markdown
from lessons.models import Lesson
from memory.models import EpisodicMemory, SemanticMemory

if TYPE_CHECKING:
    from crewsite.accounts.models import User

LIST_ROWS: Final = 200
TRANSCRIPT_ROWS: Final = 200
DAY_GROUPS: Final = (("Today", 1), ("Yesterday", 2), ("Previous 7 days", 8), ("Previous 30 days", 31))
UNDOABLE: Final[dict[str, Any]] = {"lesson": Lesson, "semantic": SemanticMemory, "episodic": EpisodicMemory}
ENDED_BADLY: Final = (Turn.State.FAILED, Turn.State.CANCELLED)
ENDINGS: Final = {
    "stopped": "Stopped.",
    "interrupted": "Interrupted: the server went away during this answer.",
    "length": "Cut off: the model reached the longest answer it may give.",
}
SHOWN_ROLES: Final = (Message.Role.USER, Message.Role.ASSISTANT, Message.Role.SYSTEM)


@dataclass(frozen=True, slots=True)
class ListGroup:
    label: str
    conversations: list[Conversation]


@dataclass(frozen=True, slots=True)
class Line:
    """One message with what its turn says about it."""

    message: Message
    html: str
    turn: Turn | None
    cards: list[str] = field(default_factory=list)  # frames of tool calls as JSON, drawn by the page's script
    problem: str = ""
    can_retry: bool = False


@dataclass(frozen=True, slots=True)
class Transcript:
    lines: list[Line]
    last_seq: int
    running: list[Turn]
    has_earlier: bool


def conversation_groups(user: User | Any, query: str = "") -> list[ListGroup]:
    """A person's conversations, newest first, under the day they were last used. A query looks in titles and
    messages."""
    rows = Conversation.objects.for_user(user).current()
    if query:
        said = Message.objects.filter(conversation=OuterRef("pk"), content__icontains=query)
        rows = rows.filter(Q(title__icontains=query) | Exists(said))
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    groups: dict[str, list[Conversation]] = {}
    for row in rows.order_by("-pinned", "-last_activity_at")[:LIST_ROWS]:
        label = "Pinned" if row.pinned else _day_label(today, row.last_activity_at)
        groups.setdefault(label, []).append(row)
    return [ListGroup(label, found) for label, found in groups.items()]


def _day_label(today: Any, at: Any) -> str:
    for label, days in DAY_GROUPS:
        if at >= today - timedelta(days=days - 1):
            return label
    return "Older"


def transcript(conversation: Conversation, *, whole: bool = False) -> Transcript:
    """The last lines, or all of them. Constant queries whatever the length."""
    rows = conversation.messages.filter(role__in=SHOWN_ROLES).order_by("-seq")
    newest = list(rows if whole else rows[: TRANSCRIPT_ROWS + 1])
    has_earlier = not whole and len(newest) > TRANSCRIPT_ROWS
    messages = newest[:TRANSCRIPT_ROWS][::-1] if has_earlier else newest[::-1]
    turns = list(conversation.turns.filter(Q(user_message__in=messages) | Q(assistant_message__in=messages)))
    asked = {turn.user_message_id: turn for turn in turns}
    answered = {turn.assistant_message_id: turn for turn in turns if turn.assistant_message_id}
    active = [turn for turn in turns if _still_running(turn)]
    gone = _gone_rows(messages)
    lines = [
        _line(message, asked.get(message.pk), answered.get(message.pk), gone)
        for message in messages
        if not _still_running(answered.get(message.pk))
    ]
    return Transcript(lines, messages[-1].seq if messages else 0, active, has_earlier)


def _still_running(turn: Turn | None) -> bool:
    """A running answer is drawn by the page's script, which asks for it from its first character."""
    return turn is not None and turn.state in (Turn.State.QUEUED, Turn.State.RUNNING)


def _calls(message: Message) -> list[dict[str, Any]]:
    return [call for call in message.tool_calls if isinstance(call, dict)]


def _gone_rows(messages: list[Message]) -> set[tuple[str, int]]:
    """What tools of these messages saved and somebody has deleted since: one query for each kind."""
    saved: dict[str, set[int]] = {kind: set() for kind in UNDOABLE}
    for message in messages:
        for call in _calls(message):
            data = call.get("data") or {}
            if data.get("kind") in saved and isinstance(data.get("id"), int):
                saved[data["kind"]].add(data["id"])
    gone: set[tuple[str, int]] = set()
    for kind, ids in saved.items():
        if ids:
            live = UNDOABLE[kind].objects.filter(pk__in=ids).values_list("pk", flat=True)
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
            "gone": (data.get("kind"), data.get("id")) in gone,
        }
    )


def _line(message: Message, asked: Turn | None, answered: Turn | None, gone: set[tuple[str, int]]) -> Line:
    if message.role == Message.Role.USER:
        lost = asked is not None and asked.assistant_message_id is None and asked.state in ENDED_BADLY
        return Line(
            message,
            "",
            asked,
            problem=(asked.error or "Stopped.") if asked is not None and lost else "",
            can_retry=lost and asked is not None and asked.retryable,
        )
    problem = ENDINGS.get(message.finish_reason, "")
    if answered is not None and answered.state == Turn.State.FAILED:
        problem = problem or answered.error
    return Line(
        message,
        render_markdown(message.content),
        answered,
        cards=[_card(call, gone) for call in _calls(message)],
        problem=problem,
        can_retry=bool(problem) and answered is not None and answered.retryable,
    )

"""What was said in this conversation before, for a model that holds no record of it: branches, imports,
Slack threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from crewsite.conversations.models import Message
from crewsite.security.fencing import fence
from crewsite.security.redaction import redact
from memory.context.constants import AUTHORITY_FRAME, MARKER_THREAD, THREAD_MESSAGES
from memory.context.cuts import cut_words
from memory.context.packet import Block, BlockState
from memory.context.shortening import shorten_middle
from memory.context.stored import stored_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory.context.request import ContextRequest

_FRAMING = (
    "What was said in this conversation before, oldest first. It is a record; answer the message at the end."
)


class ThreadSource:
    """Only when a conversation is new to the model. A resumed one has its own record, later messages keep
    theirs.
    """

    name: ClassVar[str] = "thread"
    is_memory: ClassVar[bool] = False

    def collect(self, request: ContextRequest) -> list[Block]:
        if not request.is_new or request.resumed:
            return []
        messages = _messages(request)
        if not messages:
            return []
        frame = len(_wrap(request, ""))
        shown = _fitted(messages, request, frame)
        return [
            Block(
                name=self.name,
                marker=MARKER_THREAD,
                authority=AUTHORITY_FRAME,
                text=_wrap(request, "\n".join(shown.entries)),
                cap=shown.cap,
                state=BlockState.TRIMMED if shown.reason else BlockState.ADMITTED,
                reason=shown.reason,
                left_out_count=shown.dropped,
            )
        ]


@dataclass(frozen=True, slots=True)
class _Shown:
    entries: Sequence[str]
    cap: int
    reason: str = ""
    dropped: int = 0


def _fitted(messages: Sequence[Message], request: ContextRequest, frame: int) -> _Shown:
    """All of them under the smaller cap; else shortened under the larger one, or without the oldest."""
    sections = request.caps.sections
    room, total = sections.thread - frame, len(messages)
    entries = [_entry(message, request, room) for message in messages]
    if sum(len(entry) + 1 for entry in entries) <= room:
        return _Shown(entries, sections.thread)
    if not _shortens():
        kept = _newest_that_fit(entries, room)
        dropped = total - len(kept)
        return _Shown(kept, sections.thread, f"{dropped} oldest of {total} messages left out", dropped)
    short = shorten_middle(entries, sections.thread_compressed - frame)
    reason = f"{short.shortened} of {total} messages shortened to their first words"
    if short.dropped:
        reason = f"{reason}, {short.dropped} left out"
    return _Shown(short.entries, sections.thread_compressed, reason, short.dropped)


def _shortens() -> bool:
    from constance import config

    return bool(config.THREAD_SHORTENING)


def _messages(request: ContextRequest) -> list[Message]:
    """The last messages before the one being answered, oldest first."""
    spoken = Message.objects.filter(
        conversation_id=request.conversation.pk,
        is_current=True,
        role__in=(Message.Role.USER, Message.Role.ASSISTANT),
    ).exclude(content="")
    if request.before_seq is not None:
        spoken = spoken.filter(seq__lt=request.before_seq)
    newest = list(spoken.order_by("-seq")[: THREAD_MESSAGES + 1])
    if request.before_seq is None and newest and _is_being_answered(newest[0], request):
        newest = newest[1:]
    return newest[:THREAD_MESSAGES][::-1]


def _is_being_answered(message: Message, request: ContextRequest) -> bool:
    return message.role == Message.Role.USER and message.content == request.message


def _entry(message: Message, request: ContextRequest, room: int) -> str:
    who = "Assistant" if message.role == Message.Role.ASSISTANT else "Person"
    # Redacted before the cut: half a key would pass the redaction of the fence.
    text = stored_text(redact(message.content).text)
    return cut_words(f"{who} said: {text}", min(request.caps.per_message, room))


def _newest_that_fit(entries: list[str], room: int) -> list[str]:
    kept: list[str] = []
    for entry in reversed(entries):
        if len(entry) + 1 > room:
            break
        kept.append(entry)
        room -= len(entry) + 1
    return kept[::-1]


def _wrap(request: ContextRequest, text: str) -> str:
    fenced = fence(text, kind="thread", origin="this conversation", conversation=str(request.conversation.pk))
    return f"{MARKER_THREAD}\n{_FRAMING}\n{fenced}"

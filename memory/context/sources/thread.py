"""What was said in this conversation before, for a model that holds no record of it: branches, imports,
Slack threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from crewsite.conversations.models import Message
from crewsite.security.fencing import fence
from crewsite.security.redaction import redact
from memory.context.constants import AUTHORITY_FRAME, MARKER_THREAD, THREAD_MESSAGES
from memory.context.cuts import cut_words
from memory.context.packet import Block, BlockState
from memory.context.stored import stored_text

if TYPE_CHECKING:
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
        cap = request.caps.sections.thread
        room = cap - len(_wrap(request, ""))
        kept = _newest_that_fit([_entry(message, request, room) for message in messages], room)
        dropped = len(messages) - len(kept)
        return [
            Block(
                name=self.name,
                marker=MARKER_THREAD,
                authority=AUTHORITY_FRAME,
                text=_wrap(request, "\n".join(kept)),
                cap=cap,
                state=BlockState.TRIMMED if dropped else BlockState.ADMITTED,
                reason=f"{dropped} oldest of {len(messages)} messages left out" if dropped else "",
                left_out_count=dropped,
            )
        ]


def _messages(request: ContextRequest) -> list[Message]:
    """The last messages before the one being answered, oldest first."""
    spoken = Message.objects.filter(
        conversation_id=request.conversation.pk, role__in=(Message.Role.USER, Message.Role.ASSISTANT)
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

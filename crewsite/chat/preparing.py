"""What one turn's prompt is made of: the context packet, the earlier messages that fit the model's window,
and the tool context. Reads rows and stores the packet with the turn; calls no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Q
from django.utils import timezone

from crewsite.chat.constants import CHARS_PER_TOKEN, HISTORY_WINDOW_SHARE, REFERENCE_WINDOW_TOKENS
from crewsite.chat.models import Turn
from crewsite.chat.services import Injection, turn_record_packet
from crewsite.conversations.models import Conversation, Message
from crewsite.llm.constants import MEMORY_MODEL
from crewsite.llm.providers import model_name
from crewsite.llm.tools import ToolContext
from crewsite.security.origin import Surface
from memory.context.build import context_build
from memory.context.windows import resolve_model_window

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Prepared:
    """`model` is empty when the answer comes from memory alone."""

    turn: Turn
    context: ToolContext
    instructions: str
    history: tuple[Message, ...]
    text: str
    model: str


def prepare(turn: Turn) -> Prepared:
    """Build and store the packet.

    The model client keeps nothing between turns, so every turn after the first is what chapter 4.1 calls a
    resume: all blocks are built again from the rows, and what was deleted meanwhile is gone. The same rows
    give the same bytes.
    """
    conversation = turn.conversation
    message = turn.user_message
    model = _model_of(conversation)
    earlier = _earlier(turn)
    window = resolve_model_window(model) if model else None
    packet = context_build(
        conversation,
        message,
        is_new=not earlier,
        resumed=bool(earlier),
        model_window=window,
        now=timezone.now(),
    )
    turn.packet = packet.as_json()
    turn.model = model or MEMORY_MODEL
    injections = [Injection(source.kind, source.object_id, source.score) for source in packet.sources]
    turn_record_packet(turn_id=turn.pk, packet=turn.packet, injections=injections, model=turn.model)
    user = message.author or conversation.owner
    return Prepared(
        turn=turn,
        context=ToolContext(
            conversation.workspace, user, conversation, Surface(conversation.surface), turn.pk
        ),
        instructions=packet.text,
        history=fitting(earlier, budget_chars=history_budget_chars(window, packet.total_chars)),
        text=message.content,
        model=model,
    )


def _model_of(conversation: Conversation) -> str:
    return model_name(conversation.model or "default")


def _earlier(turn: Turn) -> list[Message]:
    """Messages said before this turn's question, without questions that still wait for their own turn.

    The answer of the turn before may bear a later number than this question, when it was asked meanwhile.
    """
    own = {turn.user_message_id, turn.assistant_message_id}
    asked_at = turn.user_message.seq
    answers = (
        Turn.objects.filter(conversation=turn.conversation, user_message__seq__lt=asked_at)
        .exclude(assistant_message=None)
        .values_list("assistant_message_id", flat=True)
    )
    rows = turn.conversation.messages.filter(Q(seq__lt=asked_at) | Q(pk__in=list(answers)))
    return [row for row in rows.order_by("seq") if row.pk not in own and (row.content or row.tool_calls)]


def history_budget_chars(window_tokens: int | None, packet_chars: int) -> int:
    window = window_tokens or REFERENCE_WINDOW_TOKENS
    return max(0, int(window * HISTORY_WINDOW_SHARE) * CHARS_PER_TOKEN - packet_chars)


def fitting(messages: Sequence[Message], *, budget_chars: int) -> tuple[Message, ...]:
    """The newest messages that fit, whole, starting with something the person said."""
    kept: list[Message] = []
    for message in reversed(messages):
        budget_chars -= _size(message)
        if budget_chars < 0:
            break
        kept.append(message)
    kept.reverse()
    while kept and kept[0].role != Message.Role.USER:
        kept.pop(0)
    return tuple(kept)


def _size(message: Message) -> int:
    calls: list[dict[str, Any]] = message.tool_calls
    return len(message.content) + sum(len(str(call.get("result", ""))) for call in calls)

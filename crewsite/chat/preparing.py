"""What one turn's prompt is made of: the context packet, the earlier messages that fit the model's window,
and the tool context. Reads rows and stores the packet with the turn; calls no model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Q
from django.utils import timezone

from crewsite.chat.constants import (
    CHARS_PER_TOKEN,
    HISTORY_WINDOW_SHARE,
    MESSAGES_AT_ONCE,
    REFERENCE_WINDOW_TOKENS,
)
from crewsite.chat.models import Turn, TurnInjection
from crewsite.chat.services import Injection, turn_begin, turn_record_packet
from crewsite.chat.tool_rules import Rules
from crewsite.conversations.branches import on_path, path_to, question_before
from crewsite.conversations.models import Conversation, Message
from crewsite.llm.constants import MEMORY_MODEL
from crewsite.llm.targets import Target, target_of
from crewsite.llm.tools import ToolContext
from crewsite.security.origin import Surface
from memory.context.build import context_again, context_build
from memory.context.packet import Placement
from memory.context.windows import resolve_model_window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from uuid import UUID

    from django.db.models import QuerySet

    from memory.context.packet import ContextPacket
    from memory.context.request import ChosenRow, SeenRow


_PRIVACY: Final[dict[str, int]] = {
    Conversation.Mode.PERSISTENT: 0,
    Conversation.Mode.INCOGNITO: 1,
    Conversation.Mode.TEMPORARY: 2,
}


@dataclass(frozen=True, slots=True)
class Prepared:
    """`target` is None when the answer comes from memory alone; `rules` say which tools a model may use.
    `with_text` is what memory adds to the text, `added` what it added to earlier messages, by their id."""

    turn: Turn
    context: ToolContext
    instructions: str
    history: tuple[Message, ...]
    text: str
    target: Target | None
    rules: Rules
    with_text: str = ""
    added: Mapping[int, str] = field(default_factory=dict)


def begin(turn_id: UUID, *, begun: Callable[[], object]) -> Prepared | None:
    """Queued to running, which `begun` is told, and what its prompt is made of; None if somebody stopped it
    meanwhile."""
    turn = turn_begin(turn_id=turn_id)
    if turn is None:
        return None
    begun()
    return prepare(turn)


def prepare(turn: Turn) -> Prepared:
    """Build and store the packet.

    The model client keeps nothing between turns, so every turn after the first is what chapter 4.1 calls a
    resume: the opening is built again, of the rows that were chosen for the first message, and what was
    deleted meanwhile is gone. The same rows give the same bytes, which a provider's prompt cache lives on;
    what a later message calls for stands with that message.
    """
    conversation, message = turn.conversation, turn.user_message
    # Of the mode it was sent in and the mode by now, the more private one holds for what is read and written.
    conversation.mode = max((turn.mode, conversation.mode), key=_PRIVACY.__getitem__)
    target = target_for(conversation)
    path = path_to(message)
    window = _window_of(target)
    earlier = _earlier(turn, path, budget_chars=history_budget_chars(window, 0))
    before = _added_rows(path - {message.pk})
    packet = _packet(conversation, message, earlier, before, window, path=path, surface=turn.surface)
    turn.packet = packet.as_json()
    turn.model = target.name if target else MEMORY_MODEL
    turn_record_packet(
        turn_id=turn.pk, packet=turn.packet, injections=list(_injections(packet)), model=turn.model
    )
    added = context_again(conversation, before)
    room = history_budget_chars(window, packet.total_chars) - sum(map(len, added.values()))
    is_owner = message.author_id in {None, conversation.owner_id}
    user = conversation.owner if is_owner else message.author
    return Prepared(
        turn=turn,
        context=ToolContext(conversation.workspace, user, conversation, Surface(turn.surface), turn.pk),
        instructions=packet.opening,
        history=fitting(earlier, budget_chars=room),
        text=message.content,
        target=target,
        rules=Rules.live(),
        with_text=packet.with_message,
        added=added,
    )


def packet_ahead(conversation: Conversation, text: str, *, window: int | None = None) -> ContextPacket:
    """The packet that the next message of a conversation would get; of one that is not saved, the first."""
    if conversation._state.adding:
        return _packet(conversation, text, [], {}, window)
    spoken = conversation.messages.filter(is_current=True).order_by("seq").exclude(content="")
    last = question_before(conversation)
    path = path_to(last) if last else set()
    return _packet(
        conversation,
        text,
        list(spoken[:1]),
        _added_rows(path),
        window or _window_of(target_for(conversation)),
        path=path,
    )


def _packet(
    conversation: Conversation,
    message: Message | str,
    earlier: Sequence[Message],
    added: Mapping[int, Sequence[SeenRow]],
    window: int | None,
    *,
    path: AbstractSet[int] = frozenset(),
    surface: str = "",
) -> ContextPacket:
    return context_build(
        conversation,
        message,
        is_new=not earlier,
        resumed=bool(earlier),
        model_window=window,
        now=timezone.now(),
        surface=surface,
        opening_message=_opening_message(conversation, earlier, path),
        opening_rows=_opening_rows(path) if earlier else None,
        seen={row for rows in added.values() for row in rows},
    )


def _injections(packet: ContextPacket) -> Iterator[Injection]:
    for block in packet.blocks:
        with_message = block.placement == Placement.MESSAGE
        for source in block.sources if block.text else ():
            yield Injection(source.kind, source.object_id, source.score, with_message)


def _opening_rows(path: AbstractSet[int]) -> list[ChosenRow] | None:
    """What the first turn of a branch that found something was given of facts and episodes; None when none
    was."""
    found = TurnInjection.objects.filter(
        turn__user_message__in=path, with_message=False, kind__in=("semantic", "episodic")
    )
    first = found.order_by("turn__user_message__seq").values("turn")[:1]
    rows = found.filter(turn__in=first).order_by("rank")
    return list(rows.values_list("kind", "object_id", "score")) or None


def _added_rows(path: AbstractSet[int]) -> dict[int, list[SeenRow]]:
    """The rows that the questions of a branch brought, by the id of the message, in the order they stood
    in."""
    rows = TurnInjection.objects.filter(turn__user_message__in=path, with_message=True)
    found: dict[int, list[SeenRow]] = {}
    ordered = rows.order_by("turn__user_message__seq", "rank")
    for message_id, kind, object_id in ordered.values_list("turn__user_message", "kind", "object_id"):
        found.setdefault(message_id, []).append((kind, object_id))
    return found


def target_for(conversation: Conversation) -> Target | None:
    """The model of a conversation. One that was picked and is gone since gives way to the default."""
    if conversation.model == MEMORY_MODEL:
        return None
    picked = target_of(conversation.model) if conversation.model else None
    return picked or target_of("default")


def _window_of(target: Target | None) -> int | None:
    if target is None:
        return None
    return target.window_tokens or resolve_model_window(target.model)


def _opening_message(
    conversation: Conversation, earlier: Sequence[Message], path: AbstractSet[int]
) -> str | None:
    """What the person said first on a branch, of which the end may be all that was read."""
    first = next((row for row in earlier if row.role == Message.Role.USER), None)
    if earlier and (first is None or first.parent_id is not None):
        first = conversation.messages.filter(pk__in=path, parent=None).first() or first
    return first.content if first else None


def _earlier(turn: Turn, path: set[int], *, budget_chars: int) -> list[Message]:
    """The newest messages said before this turn's question on its branch: more than fit, never the whole of a
    long conversation.

    The answer of the turn before may bear a later number than this question, when it was asked meanwhile.
    """
    own = [pk for pk in (turn.user_message_id, turn.assistant_message_id) if pk is not None]
    asked_at = turn.user_message.seq
    rows = turn.conversation.messages.filter(Q(seq__lt=asked_at) | Q(parent__in=path)).order_by("-seq")
    rows = rows.exclude(pk__in=own).exclude(parent=turn.user_message)
    newest: list[Message] = []
    for row in on_path(_paged(rows), path):
        if row.content or row.tool_calls:
            newest.append(row)
            budget_chars -= _size(row)
        if budget_chars < 0:
            break
    return newest[::-1]


def _paged(rows: QuerySet[Message]) -> Iterator[Message]:
    """By falling `seq`, so many a statement."""
    page = list(rows[:MESSAGES_AT_ONCE])
    while page:
        yield from page
        is_last = len(page) < MESSAGES_AT_ONCE
        page = [] if is_last else list(rows.filter(seq__lt=page[-1].seq)[:MESSAGES_AT_ONCE])


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

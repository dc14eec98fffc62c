"""What a socket needs to read: whether it may, how a conversation stands, and what it has missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from crewsite.accounts.models import ApiToken, Role, User, Workspace
from crewsite.accounts.sockets import still_valid
from crewsite.chat.models import Turn
from crewsite.conversations.models import Conversation, Message
from crewsite.embeddings.service import embedder_status
from crewsite.live import live_value
from crewsite.llm.constants import MEMORY_MODEL
from crewsite.llm.providers import llm_status
from crewsite.llm.targets import target_of

if TYPE_CHECKING:
    from uuid import UUID

    from crewsite.accounts.sockets import AuthenticatedSocket

OPEN_STATES = (Turn.State.QUEUED, Turn.State.RUNNING)
TOLD_WITH = ("conversation", "user_message", "assistant_message")  # what the frames of a turn are made of


@dataclass(frozen=True, slots=True)
class Standing:
    """How a conversation stands when a socket opens."""

    model: str
    degraded: tuple[str, ...]
    running: Turn | None
    last_seq: int


@dataclass(frozen=True, slots=True)
class Admission:
    """What a socket may do now. Without a conversation it is refused: `is_known` tells not found from not
    signed in."""

    is_known: bool
    conversation: Conversation | None = None
    may_write: bool = False


@dataclass(frozen=True, slots=True)
class Missed:
    """Messages after a sequence number with the turn each belongs to, without answers that are still
    written."""

    messages: tuple[tuple[Message, Turn | None], ...]
    running: Turn | None


def turns_running() -> int:
    return Turn.objects.filter(state=Turn.State.RUNNING).count()


def conversation_for(
    user: User, conversation_id: UUID, *, token: ApiToken | None = None
) -> Conversation | None:
    """The conversation if this person may open it, through this token if there is one."""
    rows = Conversation.objects.for_user(user).filter(pk=conversation_id)
    if token is not None:
        if "read" not in token.scopes:
            return None
        if token.workspace_id is not None:
            rows = rows.filter(workspace_id=token.workspace_id)
    return rows.select_related("workspace", "owner").first()


def admission(who: AuthenticatedSocket, conversation_id: UUID, *, writes: bool = False) -> Admission:
    """Whether the token or session still stands, and what it opens. `may_write` is looked up for who
    `writes`."""
    if not still_valid(who):
        return Admission(is_known=False)
    conversation = conversation_for(who.user, conversation_id, token=who.token)
    may = writes and conversation is not None and may_write(who.user, conversation, token=who.token)
    return Admission(is_known=True, conversation=conversation, may_write=may)


def may_write(user: User, conversation: Conversation, *, token: ApiToken | None = None) -> bool:
    if token is not None and "write" not in token.scopes:
        return False
    return (
        Workspace.objects.for_user(user, at_least=Role.MEMBER).filter(pk=conversation.workspace_id).exists()
    )


def standing(conversation: Conversation) -> Standing:
    last = conversation.messages.order_by("-seq").values_list("seq", flat=True).first()
    return Standing(
        model=model_shown(conversation),
        degraded=tuple(degradations()),
        running=running_turn(conversation),
        last_seq=last or 0,
    )


def model_shown(conversation: Conversation) -> str:
    """The name of the model that would answer now."""
    if conversation.model == MEMORY_MODEL:
        return MEMORY_MODEL
    target = (target_of(conversation.model) if conversation.model else None) or target_of("default")
    return target.name if target else MEMORY_MODEL


def degradations() -> list[str]:
    """What a person should know before they trust an answer: no model, or no search by meaning yet."""
    llm = llm_status()["state"]
    found = [] if llm == "ready" else [f"llm_{llm}"]
    embedder = embedder_status().state
    if embedder != "ready":
        found.append("embedder_loading" if embedder == "loading" else "embedder_unavailable")
    return found


def running_turn(conversation: Conversation) -> Turn | None:
    running = conversation.turns.filter(state=Turn.State.RUNNING)
    return running.select_related(*TOLD_WITH).order_by("created_at").first()


def turn_in(conversation: Conversation, turn_id: UUID) -> Turn | None:
    """A turn by id, if it belongs to this conversation."""
    return conversation.turns.filter(pk=turn_id).select_related(*TOLD_WITH).first()


def turn_closed(*, turn_id: UUID) -> Turn | None:
    """The turn, if it is over."""
    return Turn.objects.exclude(state__in=OPEN_STATES).filter(pk=turn_id).select_related(*TOLD_WITH).first()


def missed(conversation: Conversation, *, after_seq: int) -> Missed:
    rows = conversation.messages.filter(is_current=True, seq__gt=after_seq)
    messages = list(rows.order_by("seq"))
    turns = conversation.turns.filter(Q(user_message__in=rows) | Q(assistant_message__in=rows))
    by_message: dict[int, Turn] = {}
    open_answers: set[int] = set()
    for turn in turns:
        by_message[turn.user_message_id] = turn
        if turn.assistant_message_id is not None:
            by_message[turn.assistant_message_id] = turn
            if turn.state in OPEN_STATES:
                open_answers.add(turn.assistant_message_id)
    shown = tuple((row, by_message.get(row.pk)) for row in messages if row.pk not in open_answers)
    return Missed(messages=shown, running=running_turn(conversation))


def running_limit() -> int:
    """Turns of one person that may run at once: a live setting."""
    return max(1, int(live_value("CHAT_MAX_RUNNING_TURNS")))

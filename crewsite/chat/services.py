"""Writes of turns: one function per step of a turn's life. Running the model is `runner`'s; these only keep
the rows right, whoever calls them and however often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from crewsite.chat.answers import answer_html
from crewsite.chat.constants import INTERRUPTED
from crewsite.chat.models import Turn, TurnInjection
from crewsite.chat.questions import questions_close
from crewsite.conversations.indexing import vectors_later
from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.rendering import render_markdown
from crewsite.conversations.services import (
    conversation_rename,
    message_append,
    message_update,
    messages_overwrite,
    title_propose,
)
from crewsite.jobs.leases import process_owner
from crewsite.llm.constants import MEMORY_MODEL
from crewsite.security.text import clean
from lessons.services import lessons_applied
from memory.consolidation.constants import PREFERENCES_EVERY_MESSAGES
from memory.consolidation.triggers import turn_ended

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from crewsite.accounts.models import User


CUT_SHORT: Final = ("length", "content_filter")


@dataclass(frozen=True, slots=True)
class Injection:
    """One memory row that went into a prompt."""

    kind: str
    object_id: int
    score: float | None
    with_message: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """What a running turn has produced so far."""

    turn_id: UUID
    text: str
    tool_calls: Sequence[dict[str, Any]]
    first_token_at: datetime | None


def turn_start(
    *,
    conversation: Conversation,
    user: User,
    text: str,
    client_key: str,
    attachments: Sequence[dict[str, Any]] = (),
    surface: str = "",
    instead_of: Message | None = None,
    html: str | None = None,
) -> tuple[Turn, bool]:
    """The turn of this `client_key`, and whether it is new. The same key again changes nothing, whatever its
    text. `surface` is where it was sent, when that is not where the conversation started; `instead_of` the
    question it is another version of; `html` the text's rendering, where the caller holds the lock."""
    html = render_markdown(clean(text)) if html is None else html
    with transaction.atomic():
        row = Conversation.objects.select_for_update().get(pk=conversation.pk)
        turns = row.turns.select_related("user_message", "assistant_message")
        known = turns.filter(client_key=client_key).first()
        if known is not None:
            return known, False
        message = message_append(
            conversation=row,
            role=Message.Role.USER,
            content=text,
            author=user,
            attachments=attachments,
            html=html,
            parent=instead_of.parent if instead_of else None,
            is_first=instead_of is not None and instead_of.parent is None,
            with_vectors=False,  # the end of the turn asks for those of question and answer together
            is_locked=True,
        )
        if not row.title:
            conversation_rename(conversation=row, title=title_propose(text))
        turn = Turn.objects.create(
            conversation=row,
            user_message=message,
            client_key=client_key,
            model=row.model,
            mode=row.mode,
            surface=surface or row.surface,
            runner=process_owner(),
            heartbeat_at=timezone.now(),
        )
    return turn, True


class TurnMustWait(Exception):
    """Another turn of the conversation is being answered, by whichever process."""


def turn_begin(*, turn_id: UUID) -> Turn | None:
    """Queued to running, with an empty answer in place; None if somebody stopped it meanwhile. Raises
    TurnMustWait."""
    now = timezone.now()
    with transaction.atomic():
        try:
            claimed = Turn.objects.filter(pk=turn_id, state=Turn.State.QUEUED).update(
                state=Turn.State.RUNNING,
                started_at=now,
                heartbeat_at=now,
                runner=process_owner(),
                error="",
                retryable=False,
            )
        except IntegrityError as error:
            raise TurnMustWait from error
        if not claimed:
            return None
        turn = _turn(turn_id, locked=True)
        if turn.assistant_message is None:
            turn.assistant_message = message_append(
                conversation=turn.conversation,
                is_locked=True,
                role=Message.Role.ASSISTANT,
                content="",
                parent=turn.user_message,
                # The answer to a private message is private, whatever the mode is by now.
                private=turn.user_message.private or not turn.conversation.writes_memory,
            )
            turn.save(update_fields=["assistant_message"])
    return turn


def turn_record_packet(
    *, turn_id: UUID, packet: dict[str, Any], injections: Sequence[Injection], model: str
) -> None:
    """What the prompt was made of, kept with the turn so that "why did it say that?" has an answer. Its
    lessons count as applied, once a turn however often it is tried."""
    with transaction.atomic():
        Turn.objects.filter(pk=turn_id).update(packet=packet, model=model)
        known, _ = TurnInjection.objects.filter(turn_id=turn_id).delete()
        if not known:
            lessons_applied(ids={row.object_id for row in injections if row.kind == "lesson"})
        TurnInjection.objects.bulk_create(
            TurnInjection(
                turn_id=turn_id,
                kind=row.kind,
                object_id=row.object_id,
                rank=rank,
                score=row.score,
                with_message=row.with_message,
            )
            for rank, row in enumerate(injections)
        )


def turns_save(drafts: Sequence[Draft]) -> set[UUID]:
    """What running turns of this process have produced so far, and their heartbeats, in one transaction.
    Returns the turns that are no longer ours to write.
    """
    by_turn = {draft.turn_id: draft for draft in drafts}
    with transaction.atomic():
        running = Turn.objects.filter(pk__in=by_turn, state=Turn.State.RUNNING, runner=process_owner())
        # Locked: an end that is being written meanwhile is not overwritten by the draft before it.
        ours = list(running.select_for_update().values_list("pk", "first_token_at", "assistant_message"))
        Turn.objects.filter(pk__in=[turn_id for turn_id, _, _ in ours]).update(heartbeat_at=timezone.now())
        for turn_id, first_token_at, _ in ours:
            begun = by_turn[turn_id].first_token_at
            if first_token_at is None and begun is not None:
                Turn.objects.filter(pk=turn_id).update(first_token_at=begun)
        written = [(message_id, by_turn[turn_id]) for turn_id, _, message_id in ours]
        messages_overwrite(drafts=[(pk, draft.text, draft.tool_calls) for pk, draft in written])
    return set(by_turn) - {turn_id for turn_id, _, _ in ours}


def turn_finish(
    *,
    turn_id: UUID,
    text: str,
    tool_calls: Sequence[dict[str, Any]] = (),
    usage: dict[str, Any] | None = None,
    first_token_at: datetime | None = None,
) -> Turn:
    """Running to done: the whole answer, rendered once. `length`: the model had no room left for the rest;
    `content_filter`: its provider kept it back."""
    usage = usage or {}
    ended = usage.get("finish_reason")
    return _close(
        turn_id,
        Turn.State.DONE,
        text=text,
        tool_calls=tool_calls,
        usage=usage,
        finish_reason=ended if ended in CUT_SHORT else "stop",
        first_token_at=first_token_at,
    )


def turn_fail(
    *,
    turn_id: UUID,
    reason: str,
    retryable: bool,
    text: str | None = None,
    tool_calls: Sequence[dict[str, Any]] | None = None,
    first_token_at: datetime | None = None,
) -> Turn:
    """Running to failed; whatever had been produced is kept. Without a text: what was saved last."""
    return _close(
        turn_id,
        Turn.State.FAILED,
        text=text,
        tool_calls=tool_calls,
        finish_reason="error",
        error=clean(reason),
        retryable=retryable,
        first_token_at=first_token_at,
    )


def turn_stop(
    *,
    turn_id: UUID,
    text: str | None = None,
    tool_calls: Sequence[dict[str, Any]] | None = None,
    first_token_at: datetime | None = None,
) -> Turn:
    """Stopped by the person; what was produced is kept and marked so. Without a text: what was saved last."""
    return _close(
        turn_id,
        Turn.State.CANCELLED,
        text=text,
        tool_calls=tool_calls,
        finish_reason="stopped",
        retryable=True,
        first_token_at=first_token_at,
    )


def turn_retry(*, turn_id: UUID) -> Turn | None:
    """A failed or stopped turn back into the queue: the same user message, the same place for the answer.

    None if it is not in such a state. The earlier partial answer gives way to the new one.
    """
    with transaction.atomic():
        claimed = Turn.objects.filter(pk=turn_id, state__in=[Turn.State.FAILED, Turn.State.CANCELLED]).update(
            state=Turn.State.QUEUED,
            error="",
            retryable=False,
            runner=process_owner(),
            heartbeat_at=timezone.now(),
            started_at=None,
            first_token_at=None,
            finished_at=None,
        )
        if not claimed:
            return None
        turn = _turn(turn_id)
        answer = turn.assistant_message
        if answer is not None:
            message_update(message=answer, content="", tool_calls=[], finish_reason="", usage={})
            if not turn.conversation.writes_memory and not answer.private:
                # What is answered in a private stretch belongs to it, whenever it was asked.
                answer.private = True
                answer.save(update_fields=["private"])
    return turn


def _turn(turn_id: UUID, *, locked: bool = False) -> Turn:
    """With all it belongs to; `locked` with its conversation, for who writes into that."""
    related = ["conversation__workspace", "conversation__owner", "user_message", "assistant_message"]
    rows = Turn.objects.select_for_update(of=("conversation",)) if locked else Turn.objects.all()
    turn = rows.select_related(*related).get(pk=turn_id)
    for message in (turn.user_message, turn.assistant_message):  # else each would read it again
        if message is not None:
            message.conversation = turn.conversation
    return turn


def _close(
    turn_id: UUID,
    state: Turn.State,
    *,
    text: str | None,
    tool_calls: Sequence[dict[str, Any]] | None,
    finish_reason: str,
    usage: dict[str, Any] | None = None,
    error: str = "",
    retryable: bool = False,
    first_token_at: datetime | None = None,
) -> Turn:
    """Only an open turn closes; a second closing leaves the first as it was. What somebody closed for us,
    because our row stood still while it could not be written, is open to us."""
    saved = _turn(turn_id).assistant_message if text is None else None
    shown = saved.content if saved else clean(text or "")
    html = answer_html(shown, tool_calls or (saved.tool_calls if saved else ()))  # before the lock
    taken_for_gone = Q(state=Turn.State.FAILED, error=INTERRUPTED, runner=process_owner())
    with transaction.atomic():
        ours = Turn.objects.filter(Q(state__in=[Turn.State.QUEUED, Turn.State.RUNNING]) | taken_for_gone)
        claimed = ours.filter(pk=turn_id).update(
            state=state,
            error=error,
            retryable=retryable,
            first_token_at=first_token_at,
            finished_at=timezone.now(),
        )
        turn = _turn(turn_id)
        # A shorter conversation cannot have so many that wait.
        if (turn.assistant_message or turn.user_message).seq >= PREFERENCES_EVERY_MESSAGES:
            transaction.on_commit(lambda: turn_ended(turn.conversation_id), robust=True)
        if claimed:
            wind_up(turn)
        answer = turn.assistant_message
        if claimed and answer is not None:
            calls = answer.tool_calls if tool_calls is None else tool_calls
            message_update(
                message=answer,
                content=answer.content if text is None else text,
                tool_calls=calls_ended(calls),
                finish_reason=finish_reason,
                usage=usage,
                html=html if text is not None or shown == answer.content else None,
                # Without a model the answer is a list of what memory holds.
                is_searchable=turn.model != MEMORY_MODEL,
                with_vectors=False,
            )
    return turn


def wind_up(turn: Turn) -> None:
    """What every end of a turn brings: nobody is asked any more, and what was said gets its vectors."""
    questions_close(turn.pk)
    if not turn.user_message.private:
        vectors_later()


def calls_ended(tool_calls: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls that had no result when their turn ended never get one."""
    open_states = {"running": "failed", "asking": "denied"}
    return [
        {**call, "state": open_states.get(call.get("state", ""), call.get("state"))} for call in tool_calls
    ]

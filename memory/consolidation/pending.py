"""Which conversations have something to consolidate, and whether it is due. Reads only."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constance import config
from django.db.models import Count, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from crewsite.conversations.models import Conversation, Message
from memory.consolidation.constants import (
    MAX_TRIES,
    PREFERENCES_EVERY_MESSAGES,
    PREFERENCES_LOOK_BACK_DAYS,
)
from memory.consolidation.transcript import VISIBLE, marker_field
from memory.models import ConsolidationReceipt

if TYPE_CHECKING:
    from uuid import UUID

Path = ConsolidationReceipt.Path


@dataclass(frozen=True, slots=True)
class Pending:
    """A conversation with messages a path has not covered. `note` says why it is not `ready`."""

    conversation: Conversation
    path: str
    messages: int
    last_seq: int
    ready: bool
    note: str = ""


def idle_span() -> dt.timedelta:
    """How long a conversation rests before its history is written. Read anew each time: it applies at
    once.
    """
    return dt.timedelta(hours=max(0.0, float(config.HISTORY_IDLE_HOURS)))


def is_due(conversation: Conversation, path: str, messages: int, now: dt.datetime) -> bool:
    if path == Path.PREFERENCES:
        return messages >= PREFERENCES_EVERY_MESSAGES
    return messages > 0 and conversation.last_activity_at <= now - idle_span()


def learning() -> QuerySet[Conversation]:
    """Conversations that may become memory at all."""
    return Conversation.objects.filter(learns=True, mode=Conversation.Mode.PERSISTENT)


def unconsolidated(rows: QuerySet[Conversation], path: str) -> QuerySet[Any]:
    """Those with visible messages after the path's marker, with `waiting_messages` and `waiting_until`."""
    after = Message.objects.filter(VISIBLE, conversation=OuterRef("pk"), seq__gt=OuterRef(marker_field(path)))
    grouped = after.order_by().values("conversation")
    counted: QuerySet[Any] = rows.annotate(
        waiting_messages=Coalesce(Subquery(grouped.annotate(n=Count("pk")).values("n")), 0),
        waiting_until=Subquery(grouped.annotate(last=Max("seq")).values("last")),
    )
    return counted.filter(waiting_messages__gt=0)


def due_now(path: str, now: dt.datetime) -> Iterator[UUID]:
    """Conversations whose pass should run, the longest idle first, without those that wait after failures."""
    rows: QuerySet[Any] = learning()
    if path == Path.PREFERENCES:
        recent = now - dt.timedelta(days=PREFERENCES_LOOK_BACK_DAYS)
        rows = unconsolidated(rows.filter(last_activity_at__gte=recent), path)
        rows = rows.filter(waiting_messages__gte=PREFERENCES_EVERY_MESSAGES)
    else:
        rows = unconsolidated(rows.filter(last_activity_at__lte=now - idle_span()), path)
    blocked = blocked_ranges(path, now)
    for pk, until in rows.order_by("last_activity_at", "pk").values_list("pk", "waiting_until"):
        if (pk, until) not in blocked:
            yield pk


def blocked_ranges(path: str, now: dt.datetime) -> set[tuple[UUID | None, int]]:
    """(conversation, last message) of failed ranges that are not tried again yet, or not by themselves."""
    failed = ConsolidationReceipt.objects.failed().filter(path=path)
    return {
        (receipt.conversation_id, receipt.last_seq)
        for receipt in failed.only("conversation_id", "last_seq", "state", "retry_at")
        if receipt.is_blocked(now)
    }


def pending(now: dt.datetime, *, paths: Iterable[str] = (Path.PREFERENCES, Path.HISTORY)) -> list[Pending]:
    """Everything that waits, for people: preferences from 30 messages on, history from the first."""
    found: list[Pending] = []
    for path in paths:
        failed = {
            (receipt.conversation_id, receipt.last_seq): receipt
            for receipt in ConsolidationReceipt.objects.failed().filter(path=path)
        }
        for row in unconsolidated(learning(), path).order_by("last_activity_at", "pk"):
            messages, last_seq = row.waiting_messages, row.waiting_until
            if path == Path.PREFERENCES and messages < PREFERENCES_EVERY_MESSAGES:
                continue
            receipt = failed.get((row.pk, last_seq))
            note = _note(row, path, messages, receipt, now)
            blocked = receipt is not None and receipt.is_blocked(now)
            ready = not blocked and is_due(row, path, messages, now)
            found.append(Pending(row, path, messages, last_seq, ready, note))
    return found


def block_note(receipt: ConsolidationReceipt) -> str:
    """What a failed range waits for."""
    if receipt.retry_at is not None:
        return f"Tried again at {receipt.retry_at:%Y-%m-%d %H:%M} UTC. {receipt.reason}"
    tries = f"failed {receipt.tries} of {MAX_TRIES} tries" if receipt.tries < MAX_TRIES else "failed"
    return f"Waits for new messages or a person; it {tries}. {receipt.reason}"


def _note(
    row: Conversation, path: str, messages: int, receipt: ConsolidationReceipt | None, now: dt.datetime
) -> str:
    if receipt is not None:
        return block_note(receipt)
    if path == Path.HISTORY and not is_due(row, path, messages, now):
        return f"Idle at {row.last_activity_at + idle_span():%Y-%m-%d %H:%M} UTC."
    return ""

"""Writes the audit trail of memory rows and keeps its ring bounded. Other acts are not recorded here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Count

from crewsite.rows import row_insert
from crewsite.security.constants import EVENTS_CEILING_PER_HOME, EVENTS_IN_FLIGHT_ROWS, EVENTS_KEPT_PER_HOME
from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Origin, Source, Surface
from crewsite.security.text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

_REASON_CHARS = 200
_ACTOR_CHARS = 150
_RING_ORIGIN = Origin(source=Source.TASK, surface=Surface.TASK)

# Per home: the event id at which it was counted last, and the first id at which it may be over the ceiling.
# Ids only grow, in all processes, so a home gains at most as many rows as ids were handed out since.
_counted: dict[int, tuple[int, int]] = {}


def counts_forget() -> None:
    """Count anew: the rows were replaced, and ids may have started over."""
    _counted.clear()


def event_record(
    *,
    home_id: int,
    event: str,
    memory_type: str,
    object_id: int | None = None,
    old: Any = None,
    new: Any = None,
    reason: str = "",
    origin: Origin,
) -> MemoryEvent:
    """One row in the caller's transaction. `old` and `new` are text or anything JSON can say; None is empty.

    A text that was refused must come in as `redaction.snippet(text)`.
    """
    row = event_row(
        home_id=home_id,
        event=event,
        memory_type=memory_type,
        object_id=object_id,
        old=old,
        new=new,
        reason=reason,
        origin=origin,
    )
    row_insert(row)
    _ring_check_on_commit(row)
    return row


def events_record_many(rows: Sequence[MemoryEvent]) -> None:
    """Rows made by `event_row`, all of one home, in the caller's transaction: one statement for many."""
    if len(rows) == 1:
        row_insert(rows[0])
    else:
        MemoryEvent.objects.bulk_create(rows)
    if rows:
        _ring_check_on_commit(rows[-1])


def event_row(
    *,
    home_id: int,
    event: str,
    memory_type: str,
    object_id: int | None = None,
    old: Any = None,
    new: Any = None,
    reason: str = "",
    origin: Origin,
) -> MemoryEvent:
    """The event as a row that is not saved yet, for `events_record_many`."""
    return MemoryEvent(
        home_id=home_id,
        event=event,
        memory_type=memory_type,
        object_id=object_id,
        old_value=_as_text(old),
        new_value=_as_text(new),
        reason=clean(reason)[:_REASON_CHARS],
        source=origin.source,
        actor=clean(origin.actor)[:_ACTOR_CHARS],
        surface=origin.surface,
        conversation_id=origin.conversation_id,
    )


def _ring_check_on_commit(row: MemoryEvent) -> None:
    # A failing trim is logged and left to the daily prune: it must not fail a write that is committed.
    # (A lambda, because Django names a failing hook by its `__qualname__`, which a partial lacks.)
    home_id, event_id = row.home_id, row.pk
    transaction.on_commit(lambda: _ring_check(home_id, event_id), robust=True)


def events_prune() -> int:
    """Cut every home back to the ring's size; answers how many events went. Each drop is itself an event."""
    full = (
        MemoryEvent.objects.order_by()
        .values("home_id")
        .annotate(rows=Count("id"))
        .filter(rows__gt=EVENTS_KEPT_PER_HOME)
        .values_list("home_id", flat=True)
    )
    return sum(_ring_trim(home_id, over=EVENTS_KEPT_PER_HOME) for home_id in list(full))


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return clean(value)


def _ring_check(home_id: int, event_id: int) -> None:
    counted_at, safe_until = _counted.get(home_id, (0, 0))
    if counted_at <= event_id < safe_until:
        return
    rows = MemoryEvent.objects.in_home(home_id).count()
    if rows > EVENTS_CEILING_PER_HOME:
        _ring_trim(home_id, over=EVENTS_CEILING_PER_HOME)
        rows = MemoryEvent.objects.in_home(home_id).count()
    # The last writes below the ceiling each count, so that rows still in flight are seen as they arrive.
    _counted[home_id] = (event_id, event_id + max(0, EVENTS_CEILING_PER_HOME - EVENTS_IN_FLIGHT_ROWS - rows))


def _ring_trim(home_id: int, *, over: int) -> int:
    """Drop the oldest rows of a home holding more than `over`; with the drop's own event the ring is full."""
    events = MemoryEvent.objects.in_home(home_id)
    if events.count() <= over:
        return 0
    with transaction.atomic():
        # Counted again under the write lock: another process may have trimmed in between.
        if events.count() <= over:
            return 0
        oldest_kept = events.order_by("-id").values_list("id", flat=True)[EVENTS_KEPT_PER_HOME - 2]
        dropped, _ = events.filter(id__lt=oldest_kept).delete()
        if dropped:
            MemoryEvent.objects.create(
                home_id=home_id,
                event=MemoryEvent.Event.EVENTS_DROPPED,
                memory_type="",
                new_value=str(dropped),
                reason=f"{dropped} oldest events dropped, {EVENTS_KEPT_PER_HOME} kept",
                source=_RING_ORIGIN.source,
                surface=_RING_ORIGIN.surface,
            )
    return dropped

"""Steps every lesson service shares, inside the caller's transaction: live rules, tombstones, and their
audit events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from crewsite.rows import moment_after
from crewsite.security.events import event_record
from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Source
from lessons.dedup import Rule
from lessons.models import Lesson
from lessons.services.index import KIND, index_drop

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Sequence

    from crewsite.accounts.models import Workspace
    from crewsite.security.origin import Origin

SUPERSEDED = "superseded"
EDITED = "edited"
TOMBSTONE_FIELDS = ["is_deleted", "deleted_at", "deleted_reason", "superseded_by", "updated_at"]


def live_rules(home: Workspace, scope: str) -> list[Rule]:
    """The live rules of one scope, newest first."""
    rows = (
        Lesson.objects.in_home(home).filter(scope=scope).order_by("-pk").values_list("pk", "rule", "source")
    )
    return [Rule(pk, text, source == Source.USER_EXPLICIT) for pk, text, source in rows]


def moment_of(
    home: Workspace, now: dt.datetime | None, *, keys: Collection[str] = (), ids: Collection[int] = ()
) -> dt.datetime:
    """When a change to lessons of these wordings and these ids takes place, asked for under the lock."""
    return moment_after(Lesson.all_objects.in_home(home).filter(Q(key__in=keys) | Q(pk__in=ids)), now)


def tombstone(
    row: Lesson, *, origin: Origin, reason: str, now: dt.datetime, event: MemoryEvent.Event
) -> None:
    row.mark_deleted(reason=reason, now=now)
    row.save(update_fields=TOMBSTONE_FIELDS)
    index_drop(row)
    record(row, event, origin, old=row.rendered, reason=reason)


def supersede(ids: Sequence[int], *, by: Lesson, origin: Origin, now: dt.datetime) -> None:
    """Tombstone the lessons `by` takes the place of. `by` is in the table already: nothing gives way to
    nothing.
    """
    for old in Lesson.all_objects.filter(pk__in=ids).order_by("pk"):
        old.superseded_by = by
        old.mark_deleted(reason=SUPERSEDED, now=now)
        old.save(update_fields=TOMBSTONE_FIELDS)
        index_drop(old)
        record(
            old,
            MemoryEvent.Event.SUPERSEDED,
            origin,
            old=old.rendered,
            new=by.rendered,
            reason=f"by les:{by.pk}",
        )


def revive(row: Lesson, *, now: dt.datetime) -> None:
    """Live again from now on; that it stood before, and until when, stays as a tombstone of its own."""
    row.keep_past()
    row.clear_deleted()
    row.superseded_by, row.valid_from = None, now
    row.save(update_fields=[*TOMBSTONE_FIELDS, "valid_from"])


def keep_wording(row: Lesson, *, now: dt.datetime) -> None:
    """Before an edit in place: the old wording becomes a superseded tombstone, with its count of use, and the
    row stands anew.
    """
    row.superseded_by = row
    row.mark_deleted(reason=SUPERSEDED, now=now)
    row.keep_past()
    row.clear_deleted()
    row.superseded_by, row.valid_from = None, now


def record(
    row: Lesson, event: MemoryEvent.Event, origin: Origin, *, old: str = "", new: str = "", reason: str = ""
) -> None:
    event_record(
        home_id=row.home_id,
        event=event,
        memory_type=KIND,
        object_id=row.pk,
        old=old or None,
        new=new or None,
        reason=reason,
        origin=origin,
    )

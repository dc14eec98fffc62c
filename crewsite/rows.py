"""Abstract bases every memory table shares: identity and times, and the tombstone that keeps what was
deleted."""

from __future__ import annotations

import copy
import datetime as dt
import uuid
from collections.abc import Callable
from functools import cache
from typing import Any, Final, Self, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.utils import timezone

RowGuard = Callable[[Any], None]
"""Called by a write under its lock with the row as it stands, or None; raises to stop the write unwritten."""


SHORTEST_LIFE: Final = dt.timedelta(microseconds=1)  # what every database keeps of a moment


class Row(models.Model):
    """`uid` is what exports, snapshots and merges identify a row by; `id` is local to one database."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


M = TypeVar("M", bound=models.Model)


class TombstoneQuerySet(models.QuerySet[M]):
    """Reads over rows that may be tombstoned. The default manager already hides tombstones."""

    def live(self) -> Self:
        return self.filter(is_deleted=False)

    def deleted(self) -> Self:
        return self.filter(is_deleted=True)

    def without_past(self, *same: str) -> Self:
        """Less the tombstones that `keep_past` left: those of a row that goes on, or ended once more. `same`
        are the fields that all lives of a row share.
        """
        lives = type(self)(self.model).filter(**{name: models.OuterRef(name) for name in same})
        later = models.Q(is_deleted=False) | models.Q(deleted_at__gt=models.OuterRef("deleted_at"))
        return self.filter(models.Q(is_deleted=False) | ~models.Exists(lives.filter(later)))


class LiveManager(models.Manager[M]):
    def get_queryset(self) -> models.QuerySet[M]:
        return super().get_queryset().filter(is_deleted=False)


class TombstonableRow(Row):
    """A row that heuristics and people mark deleted instead of removing; any read through `objects`
    skips it."""

    is_deleted = models.BooleanField(default=False, db_index=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    deleted_reason = models.CharField(max_length=64, blank=True)

    class Meta:
        abstract = True

    def mark_deleted(self, *, reason: str, now: Any = None) -> None:
        """Set the tombstone fields; the calling service saves, with its audit event, in one transaction."""
        self.is_deleted = True
        self.deleted_at = now or timezone.now()
        self.deleted_reason = reason

    def clear_deleted(self) -> None:
        """Take the tombstone off; the calling service saves."""
        self.is_deleted = False
        self.deleted_at = None
        self.deleted_reason = ""

    def keep_past(self) -> None:
        """Leave a tombstone of the row as it is in the table now, before the calling service changes it: what
        stood then stays known when the row itself goes on with a new value or a new life.
        """
        past = copy.copy(self)
        past._state = models.base.ModelState()
        past.pk, past.uid = None, uuid.uuid4()
        past.save(force_insert=True)


def moment_after(rows: models.QuerySet[Any], now: dt.datetime | None) -> dt.datetime:
    """When a change to these rows takes place: now, unless a clock that was ahead has written them. Asked for
    under the lock of a write, so that lives of one thing follow each other and each has some length.
    """
    last = rows.aggregate(began=models.Max("valid_from"), ended=models.Max("deleted_at"))
    began = [last["began"] + SHORTEST_LIFE] if last["began"] else []
    moment: dt.datetime = max([now or timezone.now(), *began, *([last["ended"]] if last["ended"] else [])])
    return moment


def row_insert(row: models.Model) -> None:
    """`row.save(force_insert=True)` of a row that the database numbers, by a statement that is built once a
    model: building it anew took longer than running it. Sends no signals.
    """
    fields, statement = _insertion(type(row))
    here = connections[DEFAULT_DB_ALIAS]  # behind `connection` every look at it is another
    values = [field.get_db_prep_save(field.pre_save(row, add=True), here) for field in fields]
    with here.cursor() as cursor:
        cursor.execute(statement, values)
        row.pk = cursor.fetchone()[0]
    row._state.adding, row._state.db = False, here.alias


@cache
def _insertion(model: type[models.Model]) -> tuple[list[models.Field[Any, Any]], str]:
    name = connection.ops.quote_name
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(name(str(field.column)) for field in fields)
    places = ", ".join(["%s"] * len(fields))
    key = name(str(model._meta.pk.column))
    table = name(model._meta.db_table)
    # Names are the models' own.
    return fields, f"INSERT INTO {table} ({columns}) VALUES ({places}) RETURNING {key}"  # noqa: S608

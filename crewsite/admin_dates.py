"""The years, months and days that the date links of admin's lists lead to. Not the lists themselves."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from django.db import connections
from django.db.models import Max, Min, TextField
from django.db.models.functions import Cast, Substr
from django.utils import timezone

if TYPE_CHECKING:
    from django.db.models import QuerySet

# How many characters of a stored moment name its period: 2026, 2026-11, 2026-11-30.
NAMED_BY: Final = {"year": 4, "month": 7, "day": 10}


def periods(rows: QuerySet[Any], field: str, kind: str) -> list[dt.date]:
    """First days of the periods in which there are rows, in their order, by the calendar of the site.

    Django asks SQLite to truncate each moment, and SQLite calls Python for it: up to half of the time of a
    list of 10,000 rows. Here they are grouped as they are stored, in UTC. Such a group touches two local
    periods at most, that of its first moment and that of its last.
    """
    stored = Substr(Cast(field, TextField()), 1, NAMED_BY[kind])
    grouped = rows.order_by().annotate(period=stored).values("period")
    bounds = grouped.annotate(first=Min(field), last=Max(field)).values_list("first", "last")
    moments = {moment for pair in bounds for moment in pair if moment is not None}
    return sorted({_first_day(moment, kind) for moment in moments})


def hasten_date_links(rows: QuerySet[Any]) -> None:
    """For the queryset of a list: what its date links call."""
    if connections[rows.db].vendor != "sqlite":
        return

    def found(field: str, kind: str) -> list[dt.date]:
        return periods(rows, field, kind)

    rows.dates = rows.datetimes = found  # type: ignore[method-assign, assignment]


def _first_day(moment: dt.date, kind: str) -> dt.date:
    if isinstance(moment, dt.datetime):
        moment = timezone.localtime(moment).date()
    if kind == "day":
        return moment
    return moment.replace(day=1) if kind == "month" else moment.replace(month=1, day=1)

"""Layer 3 as a prompt shows it: days fade with their age, counted in local days of the workspace (chapter 02,
2.2).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from django.db import connection
from django.db.models import Count, OuterRef, Q, Subquery

from crewsite.accounts.zones import zone_named
from memory.constants import (
    HISTORY_DAYS,
    HISTORY_FIRST_ENTRY_DAYS,
    HISTORY_FULL_DAYS,
)
from memory.live import history_max_days
from memory.models import HistoryEntry
from memory.results import HistoryText

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

DAY_GAP: Final = "\n\n"
# Number of rows, last row and last change; three reads of an index, which SQLite would turn into one of every
# row. The last row tells of an entry that came for a deleted one by a clock that is behind.
_STATE: Final = (
    "SELECT (SELECT COUNT(*) FROM memory_historyentry WHERE workspace_id = %s),"
    " (SELECT MAX(id) FROM memory_historyentry WHERE workspace_id = %s),"
    " (SELECT MAX(updated_at) FROM memory_historyentry WHERE workspace_id = %s)"
)


@dataclass(frozen=True, slots=True)
class Age:
    """One of the five ages of an entry: from so many local days on, until so many (None: for good)."""

    name: str
    label: str
    from_days: int
    until_days: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    time: dt.time
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Day:
    """One local day: its number of entries,
    and those that its age still shows, in the order of their times.
    """

    day: dt.date
    count: int
    shown: tuple[Entry, ...] = ()


def history_ages() -> tuple[Age, ...]:
    """The five ages as the prune stands now; the last ends with the next prune."""
    kept_days = history_max_days()
    return (
        Age("full", "In full", 0, HISTORY_FULL_DAYS),
        Age("first", "First entry of the day", HISTORY_FULL_DAYS, HISTORY_FIRST_ENTRY_DAYS),
        Age("counted", "Number of the day", HISTORY_FIRST_ENTRY_DAYS, HISTORY_DAYS),
        Age("stored", "Stored, not shown", HISTORY_DAYS, max(HISTORY_DAYS, kept_days)),
        Age("due", "Due to be pruned", kept_days),
    )


def zone_of(workspace: Workspace) -> dt.tzinfo:
    return zone_named(workspace.time_zone)


def local_moment(workspace: Workspace, at: dt.datetime) -> dt.datetime:
    return at.astimezone(zone_of(workspace))


def history_render(*, workspace: Workspace, now: dt.datetime, cap: int) -> HistoryText:
    """Newest day first. Over `cap` characters whole days go from the oldest end, never a part of one; a
    newest day that is over it alone is shown as it will be with age: by its first entry, or its count."""
    today = local_moment(workspace, now).date()
    days = _rendered_days(workspace, today)
    fitted = fit_days(days, cap=cap)
    return fitted if fitted.text or not days else _with_less_of_the_newest(workspace, today, days, cap)


def _with_less_of_the_newest(
    workspace: Workspace, today: dt.date, days: Sequence[str], cap: int
) -> HistoryText:
    newest = _load_days(workspace, today)[0]
    for age in (HISTORY_FULL_DAYS, HISTORY_FIRST_ENTRY_DAYS):
        shorter = render_day(newest, today=newest.day + dt.timedelta(days=age))
        fitted = fit_days([shorter, *days[1:]], cap=cap)
        if fitted.text:
            return replace(fitted, is_newest_shortened=True)
    return HistoryText("", len(days))


def render_day(day: Day, *, today: dt.date) -> str:
    """One day by its age: in full, by its first entry, by its count, or not at all (empty text)."""
    age = (today - day.day).days
    header = f"### {day.day:%Y-%m-%d}"
    if age < HISTORY_FULL_DAYS:
        return "\n".join([header, *map(_render_entry, day.shown)])
    if age < HISTORY_FIRST_ENTRY_DAYS:
        rest = day.count - 1
        more = [f"...{rest} more {'entry' if rest == 1 else 'entries'}"] if rest > 0 else []
        return "\n".join([header, *map(_render_entry, day.shown[:1]), *more])
    if age < HISTORY_DAYS:
        return f"{header}: {day.count} {'entry' if day.count == 1 else 'entries'}"
    return ""


def fit_days(days: Sequence[str], *, cap: int) -> HistoryText:
    """The newest days that fit, and how many were left out. `days` come newest first."""
    kept: list[str] = []
    size = 0
    for text in days:
        size += len(text) + (len(DAY_GAP) if kept else 0)
        if size > cap:
            break
        kept.append(text)
    return HistoryText(DAY_GAP.join(kept), len(days) - len(kept))


def _render_entry(entry: Entry) -> str:
    return f"#### {entry.time:%H:%M} {entry.title}\n{entry.text}"


# By workspace: the day and the state of the rows that the texts were made from.
_rendered: dict[int, tuple[dt.date, tuple[Any, ...], tuple[str, ...]]] = {}


def _rendered_days(workspace: Workspace, today: dt.date) -> tuple[str, ...]:
    """Made anew when the rows have changed, whichever process changed them, and at midnight."""
    with connection.cursor() as cursor:
        cursor.execute(_STATE, [workspace.pk] * 3)
        state = cursor.fetchone()
    known = _rendered.get(workspace.pk)
    if known is not None and known[:2] == (today, state):
        return known[2]
    texts = (render_day(day, today=today) for day in _load_days(workspace, today))
    days = tuple(text for text in texts if text)
    _rendered[workspace.pk] = (today, state, days)
    return days


def _load_days(workspace: Workspace, today: dt.date) -> list[Day]:
    """Newest first. Three queries, whatever the number of rows: counts of days, first entries of those that
    show one, and what is shown.
    """
    entries = HistoryEntry.objects.filter(workspace=workspace)
    first_of_day = entries.filter(day=OuterRef("day")).order_by("time", "id").values("pk")[:1]
    counted = (
        entries.filter(day__gt=today - dt.timedelta(days=HISTORY_DAYS))
        .order_by("-day")
        .values("day")
        .annotate(count=Count("pk"))
        .values_list("day", "count")
    )
    days = list(counted)
    full_after = today - dt.timedelta(days=HISTORY_FULL_DAYS)
    first_after = today - dt.timedelta(days=HISTORY_FIRST_ENTRY_DAYS)
    brief = entries.filter(day__gt=first_after, day__lte=full_after).order_by().values("day").distinct()
    firsts = list(brief.values_list(Subquery(first_of_day), flat=True))
    shown: dict[dt.date, list[Entry]] = {}
    # The first condition follows from the second, and lets an index end before years of older days.
    shown_days = entries.filter(day__gt=first_after)
    rows = shown_days.filter(Q(day__gt=full_after) | Q(pk__in=firsts)).order_by("-day", "time", "id")
    with connection.cursor() as cursor:
        # Past the ORM, which takes as long again to convert values that arrive as they should be.
        cursor.execute(*rows.values_list("day", "time", "title", "text").query.sql_with_params())
        for day, moment, title, text in cursor.fetchall():
            shown.setdefault(day, []).append(Entry(moment, title, text))
    return [Day(day, count, tuple(shown.get(day, ()))) for day, count in days]

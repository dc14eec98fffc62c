"""The audit trail of what a workspace reads: filters, pages by cursor, the diff of one event, and exports."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Q

from crewsite.accounts.console import row_number
from crewsite.accounts.zones import zone_named
from crewsite.dashboard.tables import TAB_OF_LAYER, TABLES
from crewsite.security.models import MemoryEvent, MemoryEventQuerySet
from crewsite.security.origin import Source
from crewsite.security.text import clean
from memory.constants import OWN_LAYERS
from memory.documents import DiffLine, line_diff
from memory.models import SemanticMemory
from memory.rules import parse_value, value_words

if TYPE_CHECKING:
    from django.http import QueryDict


EVENTS_A_PAGE: Final = 40
LAYERS: Final = ("semantic", "episodic", "lesson", *OWN_LAYERS, "review", "consolidation")
# One row in the words of the tabs; other layers are called what they are.
LAYER_WORDS: Final = {"semantic": "fact", "episodic": "episode"}
COLUMNS: Final = (
    "id", "at", "event", "memory_type", "object_id", "old_value", "new_value", "reason", "source", "surface",
    "actor", "conversation_id",
)  # fmt: skip
# A spreadsheet takes a cell that begins so for a formula (chapter 13, 13.10).
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 9000


@dataclass(frozen=True, slots=True)
class EventLine:
    """`name` is the key of the fact that the event is about."""

    event: MemoryEvent
    name: str = ""

    @property
    def about(self) -> str:
        return LAYER_WORDS.get(self.event.memory_type, self.event.memory_type)

    @property
    def tab(self) -> str:
        """Where the row is shown; empty for what is no row of a layer."""
        return TAB_OF_LAYER.get(self.event.memory_type, "") if self.event.object_id else ""

    @property
    def diff(self) -> tuple[DiffLine, ...]:
        old, new = readable(self.event.old_value), readable(self.event.new_value)
        return line_diff(old, new) if old != new else ()

    @property
    def peek(self) -> str:
        return " · ".join(readable(self.event.new_value or self.event.old_value).splitlines())

    @property
    def tone(self) -> str:
        return "bad" if self.event.event in {"refused", "injection_blocked"} else ""


@dataclass(frozen=True, slots=True)
class Filters:
    event: str = ""
    layer: str = ""
    source: str = ""
    actor: str = ""
    query: str = ""
    object_id: str = ""
    since: date | None = None
    until: date | None = None


def filters_of(asked: QueryDict) -> Filters:
    """A value that nothing knows filters nothing."""
    return Filters(
        event=_one_of(asked.get("event", ""), MemoryEvent.Event.values),
        layer=_one_of(asked.get("layer", ""), LAYERS),
        source=_one_of(asked.get("source", ""), Source.values),
        actor=clean(asked.get("actor", "")).strip()[:150],
        query=clean(asked.get("q", "")).strip()[:200],
        object_id=_digits(asked.get("row", "")),
        since=_day(asked.get("since", "")),
        until=_day(asked.get("until", "")),
    )


def filtered(events: MemoryEventQuerySet, chosen: Filters, *, zone: str) -> MemoryEventQuerySet:
    """Days are those of the workspace's time zone."""
    exact = {
        "event": chosen.event,
        "memory_type": chosen.layer,
        "source": chosen.source,
        "actor": chosen.actor,
    }
    events = events.filter(**{name: value for name, value in exact.items() if value})
    if chosen.object_id:
        events = events.filter(object_id=int(chosen.object_id))
    if chosen.query:
        said = chosen.query
        events = events.filter(
            Q(new_value__icontains=said) | Q(old_value__icontains=said) | Q(reason__icontains=said)
        )
    if chosen.since:
        events = events.filter(at__gte=_midnight(chosen.since, zone))
    if chosen.until:
        events = events.filter(at__lt=_midnight(chosen.until + timedelta(days=1), zone))
    return events


def events_page(events: MemoryEventQuerySet, *, before: str) -> tuple[list[EventLine], int]:
    """A page of them, newest first, and the cursor of the next; 0 after the last."""
    last = row_number(before)
    if last is not None:
        events = events.filter(pk__lt=last)
    rows = list(events.order_by("-id")[: EVENTS_A_PAGE + 1])
    more = rows[EVENTS_A_PAGE - 1].pk if len(rows) > EVENTS_A_PAGE else 0
    shown = rows[:EVENTS_A_PAGE]
    facts = [row.object_id for row in shown if row.memory_type == "semantic" and row.object_id]
    keys = dict(SemanticMemory.all_objects.filter(pk__in=facts).values_list("pk", "key")) if facts else {}
    named = [keys.get(row.object_id or 0, "") if row.memory_type == "semantic" else "" for row in shown]
    return [EventLine(row, name) for row, name in zip(shown, named, strict=True)], more


def layer_choices() -> list[tuple[str, str]]:
    """For the filter, in the words of the tabs."""
    return [
        (layer, TABLES[TAB_OF_LAYER[layer]].title if layer in TAB_OF_LAYER else layer.capitalize())
        for layer in LAYERS
    ]


def events_csv(events: MemoryEventQuerySet) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for row in events.order_by("-id").values_list(*COLUMNS):
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def events_json(events: MemoryEventQuerySet) -> str:
    rows = list(events.order_by("-id").values(*COLUMNS))
    return json.dumps(rows, ensure_ascii=False, default=_plain, indent=1)


def readable(text: str) -> str:
    """A stored value for people; JSON objects one entry a line, so that a diff shows which one changed."""
    value = parse_value(text) if text.startswith(("{", "[")) else text
    if isinstance(value, dict):
        return "\n".join(f"{key} {value_words(item)}" for key, item in value.items())
    return value_words(value)


def _cell(value: Any) -> str:
    text = "" if value is None else _plain(value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _one_of(value: str, known: Any) -> str:
    return value if value in known else ""


def _digits(text: str) -> str:
    return text if row_number(text) is not None else ""


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    # Beyond these a moment has no place in every time zone.
    return day if FIRST_YEAR <= day.year <= LAST_YEAR else None


def _midnight(day: date, zone: str) -> datetime:
    return datetime.combine(day, time.min, tzinfo=zone_named(zone))

"""How rows of memory read on a terminal and in `--json`. Looks nothing up."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from memory.layers import memory_layers

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Sequence

    from crewsite.security.models import MemoryEvent
    from memory.explain import Explanation
    from memory.layers import MemoryLayer
    from memory.results import Standing

TEXT_COLUMN_CHARS: Final = 300
NOT_SHOWN: Final = frozenset({"id", "text", "folded_hash", "source", "created_at"})


def row_as_dict(layer: MemoryLayer, row: Any) -> dict[str, Any]:
    return {
        "id": layer.citation(row),
        "text": layer.text(row),
        "source": getattr(row, "source", ""),
        "created_at": when(row.created_at),
    }


def whole_row_as_dict(layer: MemoryLayer, row: Any) -> dict[str, Any]:
    fields = {field.name: field.attname for field in row._meta.concrete_fields if field.name not in NOT_SHOWN}
    return {**row_as_dict(layer, row), **{attname: getattr(row, attname) for attname in fields.values()}}


def hit_as_dict(
    *, citation: str, text: str, at: dt.datetime | None, score: float, legs: Sequence[str]
) -> dict[str, Any]:
    """Scores are those of the ranks: kinds of rows have no other measure in common."""
    return {"id": citation, "score": round(score, 4), "legs": list(legs), "at": when(at), "text": text}


def event_as_dict(event: MemoryEvent) -> dict[str, Any]:
    return {
        "at": when(event.at),
        "event": event.event,
        "id": event_row(event.memory_type, event.object_id),
        "layer": event.memory_type,
        "row": event.object_id,
        "old": event.old_value,
        "new": event.new_value,
        "reason": event.reason,
        "source": event.source,
        "surface": event.surface,
        "actor": event.actor,
    }


def event_row(layer: str, number: int | None) -> str:
    """What other commands know the row by. A document is known by its version, which events do not tell."""
    if number is None:
        return ""
    prefix = row_prefixes().get(layer)
    return f"{prefix}:{number}" if prefix else f"{layer} {number}"


@cache
def row_prefixes() -> dict[str, str]:
    """By the name of a layer what its citations begin with, of those that cite rows by their ids."""
    return {layer.name: layer.prefix for layer in memory_layers() if ":" not in layer.prefix}


def standing_as_dict(standing: Standing) -> dict[str, Any]:
    return {
        "id": standing.citation,
        "kind": standing.kind,
        "text": standing.text,
        "source": standing.source,
        "since": when(standing.since),
        "until": when(standing.until),
    }


def story(told: Explanation) -> Iterator[tuple[str, str]]:
    """An explanation as lines of name and text, for people."""
    yield "id", told.citation
    yield "text", told.text
    since = f"since {when(told.since)}"
    yield (
        "state",
        f"{told.state}, {since}, until {when(told.ended_at)}" if told.ended_at else f"{told.state} {since}",
    )
    yield "written by", ", ".join(filter(None, (told.author, told.source, told.surface)))
    if told.conversation:
        yield "conversation", f"{told.conversation.title} ({told.conversation.id})"
    for receipt in told.receipts:
        yield "read from", receipt.described
    for ref in told.replaced_by:
        yield "replaced by", f"{ref.citation}  {ref.text}"
    for ref in told.replaces:
        yield "replaces", f"{ref.citation}  {ref.text}"
    for one in told.injections:
        yield "injected", f"{when(one.at)} into {one.conversation.title} ({one.conversation.id})"
    for event in told.events:
        words = (when(event.at), event.event, event.source, event.surface, event.actor, event.reason)
        yield "event", " ".join(filter(None, words))


def when(moment: Any) -> str:
    return moment.isoformat(timespec="seconds") if moment else ""


def cell(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)
    return text[:TEXT_COLUMN_CHARS]

"""What ranking needs to know of many rows. Read as plain columns: a hundred model instances take ten times
longer to build than everything else of a search; only the rows of the answer become some.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connection

from memory.constants import DECAY_PER_DAY, SECONDS_PER_DAY
from memory.live import decay_by_tag
from memory.models import EpisodicMemory, SemanticMemory
from memory.ranking import Candidate, decay_rate

if TYPE_CHECKING:
    from django.db.models.expressions import Col

    from crewsite.accounts.models import Workspace
    from crewsite.search.service import Hit

R = TypeVar("R", EpisodicMemory, SemanticMemory)

# The plus keeps SQLite from going through the index of homes to each row.
_LIVE = "WHERE +home_id = %s AND NOT is_deleted AND id IN ({places})"
_EPISODES = "SELECT id, text, importance, created_at, tags FROM memory_episodicmemory"
_FACTS = "SELECT id, key, value FROM memory_semanticmemory"


def episodes_read(home: Workspace, hits: Sequence[Hit], now: dt.datetime) -> list[Candidate]:
    """The live ones of these hits, in their order."""
    rates = decay_by_tag()
    found = {row[0]: row[1:] for row in _read(_EPISODES, home, (hit.object_id for hit in hits))}
    pool: list[Candidate] = []
    moment = now.astimezone(dt.UTC)
    plain = moment.replace(tzinfo=None)
    for hit in hits:
        row = found.get(hit.object_id)
        if row is None:
            continue
        text, importance, created_at, tags = row
        # A raw read of SQLite gives moments in UTC that do not say so.
        age = (moment if created_at.tzinfo else plain) - created_at
        candidate = Candidate(
            object_id=hit.object_id,
            text=text,
            importance=importance,
            days_old=age.total_seconds() / SECONDS_PER_DAY,
            rate=decay_rate(_decoded(tags), rates) if rates else DECAY_PER_DAY,
            cosine=hit.cosine,
            keyword=hit.keyword,
            all_terms=hit.all_terms,
        )
        pool.append(candidate)
    return pool


def facts_read(home: Workspace, ids: Iterable[int]) -> dict[int, tuple[str, Any]]:
    """Key and value of the live ones."""
    return {pk: (key, _decoded(value)) for pk, key, value in _read(_FACTS, home, ids)}


def rows_read(model: type[R], home: Workspace, ids: Iterable[int]) -> dict[int, R]:
    """The live ones as rows. Made from a plain read: a queryset takes longer to set itself up than the rows
    of an answer take to build.
    """
    shape = _shape(model)
    found = [list(values) for values in _read(shape.select, home, ids)]
    for values in found:
        for place, column, converters in shape.converted:
            for convert in converters:
                values[place] = convert(values[place], column, connection)
    rows = [model.from_db(connection.alias, shape.names, values) for values in found]
    return {row.pk: row for row in rows}


@dataclass(frozen=True, slots=True)
class _Shape:
    """How a model's rows come out of this database."""

    names: list[str]
    select: str
    converted: list[tuple[int, Col, list[Callable[..., Any]]]]


@cache
def _shape(model: type[R]) -> _Shape:
    fields = model._meta.concrete_fields
    columns = [field.get_col(model._meta.db_table) for field in fields]
    converters = [
        connection.ops.get_db_converters(column) + column.get_db_converters(connection) for column in columns
    ]
    names = ", ".join(str(field.column) for field in fields)
    return _Shape(
        [field.attname for field in fields],
        f"SELECT {names} FROM {model._meta.db_table}",  # noqa: S608 - names of ours
        [
            (place, column, found)
            for place, (column, found) in enumerate(zip(columns, converters, strict=True))
            if found
        ],
    )


def _read(select: str, home: Workspace, ids: Iterable[int]) -> list[tuple[Any, ...]]:
    asked = list(ids)
    if not asked:
        return []
    live = _LIVE.format(places=", ".join(["%s"] * len(asked)))
    with connection.cursor() as cursor:
        cursor.execute(f"{select} {live}", [home.pk, *asked])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _decoded(stored: Any) -> Any:
    """A raw read leaves a JSON column as text on both databases."""
    return json.loads(stored) if isinstance(stored, str) else stored

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

import numpy as np
from django.db import DEFAULT_DB_ALIAS, connection, connections

from crewsite.search.evidence import Evidence
from memory.constants import DECAY_PER_DAY, SECONDS_PER_DAY
from memory.dates import named_dates
from memory.live import decay_by_tag
from memory.models import EpisodicMemory, SemanticMemory
from memory.neighbourhood import speakers_named, window_cosines, window_words, windows
from memory.ranking import Pool, decay_rate
from memory.supersession import asked_for

if TYPE_CHECKING:
    from django.db.models.expressions import Col

    from crewsite.accounts.models import Workspace
    from crewsite.search.service import Candidates, Hit
    from memory.ranking import Ids

R = TypeVar("R", EpisodicMemory, SemanticMemory)

# The plus keeps SQLite from going through the index of homes to each row.
_LIVE = "WHERE +home_id = %s AND NOT is_deleted AND id IN ({places})"
# A moment read as text is not turned into a datetime by the driver, row by row.
_COLUMNS = "id, importance, CAST(created_at AS text), text, conversation_id, tags"
_EPISODES = (
    f"SELECT {_COLUMNS}, EXISTS (SELECT 1 FROM memory_episodicmemory AS later"  # noqa: S608
    " WHERE later.possibly_supersedes_id = episode.id)"
    f" FROM memory_episodicmemory AS episode {_LIVE} ORDER BY id"
)
# What may replace a row, then the latest that may replace that; `told` is the live row that it replaces, past
# those that are deleted.
_NEWER = (
    "WITH RECURSIVE newer(id, told, is_deleted) AS (SELECT later.id, told.id, later.is_deleted"  # noqa: S608
    " FROM memory_episodicmemory AS told"
    " JOIN memory_episodicmemory AS later ON later.possibly_supersedes_id = told.id"
    " WHERE +told.home_id = %s AND NOT told.is_deleted AND told.id IN ({places})"
    " UNION SELECT later.id, CASE WHEN newer.is_deleted THEN newer.told ELSE newer.id END, later.is_deleted"
    " FROM newer JOIN memory_episodicmemory AS later ON later.id = (SELECT id FROM memory_episodicmemory"
    " WHERE possibly_supersedes_id = newer.id ORDER BY is_deleted, id DESC LIMIT 1))"
    f" SELECT {_COLUMNS}, told FROM newer JOIN memory_episodicmemory AS episode USING (id)"
    " WHERE +home_id = %s AND NOT episode.is_deleted"
)
_SESSIONS = (
    "SELECT conversation_id, id FROM memory_episodicmemory"
    " WHERE +home_id = %s AND NOT is_deleted AND conversation_id IN ({places}) ORDER BY conversation_id, id"
)
_FACTS = "SELECT id, key, value FROM memory_semanticmemory"


def pool_read(home: Workspace, found: Candidates, *, query: str, now: dt.datetime) -> Pool:
    """The live episodes among these candidates, and those that may replace one of them."""
    rows = _with_newer(home, _select(_EPISODES, home, [hit.object_id for hit in found.hits]))
    sessions = _sessions_read(home, [row[4] for row in rows])
    around = windows(np.array([row[0] for row in rows], dtype=np.int64), sessions) if sessions else None
    told = [dt.datetime.fromisoformat(row[2]) for row in rows]
    return pool_of(rows, told, around, found, query=query, now=now)


def _with_newer(home: Workspace, found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows as `pool_of` reads them. What may replace one is asked for only where there is such a row."""
    rows = {row[0]: (*row[:-1], None) for row in found}
    outdated = [row[0] for row in found if row[-1]]
    if not outdated:
        return list(rows.values())
    rows |= {row[0]: row for row in _select(_NEWER, home, outdated, then=[home.pk])}
    return [rows[pk] for pk in sorted(rows)]


def pool_of(
    rows: Sequence[tuple[Any, ...]],
    told: Sequence[dt.datetime],
    around: Ids | None,
    found: Candidates,
    *,
    query: str,
    now: dt.datetime,
) -> Pool:
    """Columns of rows as (id, importance, when told, text, conversation, tags, id of the row it may replace),
    the moments they were told, and what stands around each (`neighbourhood.windows`; None: all stand alone).
    """
    hits = {hit.object_id: hit for hit in found.hits}
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    # SQLite keeps moments in UTC without saying so.
    moment = now if told and told[0].tzinfo else now.astimezone(dt.UTC).replace(tzinfo=None)
    conversations = [row[4] for row in rows]
    cosine = np.array([_cosine(hits.get(row[0])) for row in rows])
    rates = decay_by_tag()
    evidence = found.evidence or Evidence()
    held = evidence.terms_held(ids)
    words = held @ evidence.term_weights
    terms = max(1, held.shape[1])
    text = np.array([row[3] for row in rows], dtype=np.object_)
    supersedes = np.array([row[6] or 0 for row in rows], dtype=np.int64)
    near_cosine, near_words = cosine, words
    if around is not None:
        near_cosine = window_cosines(around, cosine, evidence)
        near_words = window_words(around, evidence)
    return Pool(
        ids=ids,
        cosine=cosine,
        words=words,
        words_share=held.sum(axis=1) / terms,
        window_cosine=near_cosine,
        window_words=near_words,
        session=_numbered(conversations),
        named=speakers_named(query, [row[3] for row in rows]),
        dated=_dated(query, told),
        importance=np.array([row[1] for row in rows], dtype=np.float64),
        days_old=np.array([(moment - at).total_seconds() / SECONDS_PER_DAY for at in told]),
        rate=np.array([decay_rate(decoded(row[5]), rates) if rates else DECAY_PER_DAY for row in rows]),
        text=text,
        supersedes=supersedes,
        asked_for=asked_for(ids, supersedes, text, held=held, terms=evidence.asked),
    )


def _dated(query: str, told: Sequence[dt.datetime]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    dates = named_dates(query)
    if not dates:
        return np.zeros(len(told), dtype=np.bool_)
    return np.array([any(date.covers(at.date()) for date in dates) for at in told], dtype=np.bool_)


def _cosine(hit: Hit | None) -> float:
    return float("nan") if hit is None or hit.cosine is None else hit.cosine


def _sessions_read(home: Workspace, conversations: Sequence[Any]) -> list[list[int]]:
    """The live rows of each of these conversations, in the order they were written."""
    asked = list(dict.fromkeys(found for found in conversations if found is not None))
    sessions: dict[Any, list[int]] = {}
    for conversation, pk in _select(_SESSIONS, home, asked):
        sessions.setdefault(conversation, []).append(pk)
    return list(sessions.values())


def _numbered(conversations: Sequence[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A number for each conversation, and one for each row that belongs to none."""
    numbers: dict[Any, int] = {}
    keys = (place if found is None else found for place, found in enumerate(conversations))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def facts_read(home: Workspace, ids: Iterable[int]) -> dict[int, tuple[str, Any]]:
    """Key and value of the live ones, the value as the database gives it: `decoded` makes it one, which most
    questions need of few facts.
    """
    return {pk: (key, value) for pk, key, value in _read(_FACTS, home, ids)}


def rows_read(model: type[R], home: Workspace, ids: Iterable[int]) -> dict[int, R]:
    """The live ones as rows. Made from a plain read: a queryset takes longer to set itself up than the rows
    of an answer take to build.
    """
    shape = _shape(model)
    found = [list(values) for values in _read(shape.select, home, ids)]
    here = connections[DEFAULT_DB_ALIAS]  # behind `connection` every look at it is another
    for values in found:
        for place, column, converters in shape.converted:
            if values[place] is not None:
                for convert in converters:
                    values[place] = convert(values[place], column, here)
    rows = [model.from_db(here.alias, shape.names, values) for values in found]
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
    return _select(f"{select} {_LIVE}", home, list(ids))


def _select(
    statement: str, home: Workspace, asked: Sequence[Any], *, then: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    """Rows of a statement over the home and the asked values, and over what comes `then`."""
    if not asked:
        return []
    places = ", ".join(["%s"] * len(asked))
    with connection.cursor() as cursor:
        cursor.execute(statement.format(places=places), [home.pk, *asked, *then])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def decoded(stored: Any) -> Any:
    """A raw read leaves a JSON column as text on both databases."""
    return json.loads(stored) if isinstance(stored, str) else stored

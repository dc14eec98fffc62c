"""What ranking needs to know of many rows. Read as plain columns: a hundred model instances take ten times
longer to build than everything else of a search; only the rows of the answer become some.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connection

from memory.constants import DECAY_PER_DAY, SECONDS_PER_DAY
from memory.live import decay_by_tag
from memory.models import EpisodicMemory, SemanticMemory
from memory.ranking import Candidate, decay_rate

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from crewsite.search.service import Hit

R = TypeVar("R", EpisodicMemory, SemanticMemory)

_EPISODES = (
    "SELECT id, text, importance, created_at, tags FROM memory_episodicmemory"
    " WHERE home_id = %s AND NOT is_deleted AND id IN ({ids})"
)
_FACTS = (
    "SELECT id, key, value FROM memory_semanticmemory WHERE home_id = %s AND NOT is_deleted AND id IN ({ids})"
)


def episodes_read(home: Workspace, hits: Sequence[Hit], now: dt.datetime) -> list[Candidate]:
    """The live ones of these hits, in their order."""
    rates = decay_by_tag()
    found = {row[0]: row[1:] for row in _read(_EPISODES, home, (hit.object_id for hit in hits))}
    pool: list[Candidate] = []
    for hit in hits:
        if hit.object_id not in found:
            continue
        text, importance, created_at, tags = found[hit.object_id]
        candidate = Candidate(
            object_id=hit.object_id,
            text=text,
            importance=importance,
            days_old=(now - _moment(created_at)).total_seconds() / SECONDS_PER_DAY,
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
    """The live ones as rows. Raw, since building the query took as long as building the rows of an answer."""
    listed = _listed(ids)
    if not listed:
        return {}
    rows = model._default_manager.raw(
        f"SELECT * FROM {model._meta.db_table} WHERE home_id = %s AND NOT is_deleted AND id IN ({listed})",  # noqa: S608 - a table's name and numbers
        [home.pk],
    )
    return {row.pk: row for row in rows}


def _read(statement: str, home: Workspace, ids: Iterable[int]) -> list[tuple[Any, ...]]:
    listed = _listed(ids)
    if not listed:
        return []
    with connection.cursor() as cursor:
        cursor.execute(statement.format(ids=listed), [home.pk])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _listed(ids: Iterable[int]) -> str:
    return ",".join(str(int(pk)) for pk in ids)


def _moment(stored: dt.datetime) -> dt.datetime:
    """A raw read of SQLite gives moments in UTC that do not say so."""
    return stored if stored.tzinfo else stored.replace(tzinfo=dt.UTC)


def _decoded(stored: Any) -> Any:
    """A raw read leaves a JSON column as text on both databases."""
    return json.loads(stored) if isinstance(stored, str) else stored

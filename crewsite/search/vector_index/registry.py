"""The collection indexes this process keeps open, and writing base files for all processes."""

from __future__ import annotations

import threading
from collections import OrderedDict

from django.db import connection, transaction
from django.db.models import Count

from crewsite.embeddings.models import Vector
from crewsite.search.constants import (
    BASE_MIN_ROWS,
    BASE_STALE_ROWS,
    BASE_STALE_SHARE,
    OPEN_COLLECTIONS_MAX,
)
from crewsite.search.vector_index.base import FaissBase
from crewsite.search.vector_index.base_file import (
    BaseFileRefused,
    base_path,
    base_write,
    drafts_remove,
    stamp_read,
)
from crewsite.search.vector_index.collection import CollectionIndex
from crewsite.search.vector_index.rows import SpaceKey, active_state, rows_read

_lock = threading.Lock()
_open: OrderedDict[tuple[SpaceKey, str], CollectionIndex] = OrderedDict()


def collection_index(collection: str, signature: str) -> CollectionIndex | None:
    """The collection's index, up to date, with this transaction's own writes if one is running.

    None when the signature is not that of the active space.
    """
    state = active_state(collection)
    if state is None or state[0].signature != signature:
        return None
    space, newest = state
    index = _index_of((space, collection))
    if not connection.in_atomic_block:
        return index.refresh(newest)
    # So that the next transaction finds what this one wrote instead of reading it again.
    transaction.on_commit(lambda: _read_on(index), robust=True)
    return index.in_transaction(newest)


def forget_all() -> None:
    """Close every index. For a restored database, and for tests."""
    with _lock:
        _open.clear()


def _index_of(key: tuple[SpaceKey, str]) -> CollectionIndex:
    with _lock:
        index = _open.get(key)
        if index is None:
            index = _open[key] = CollectionIndex(*key)
        _open.move_to_end(key)
        while len(_open) > OPEN_COLLECTIONS_MAX:
            _open.popitem(last=False)
        return index


def _read_on(index: CollectionIndex) -> None:
    if not connection.in_atomic_block:
        index.read_on()


def collections_of(space_id: int) -> dict[str, int]:
    """Live vectors by collection."""
    counted = Vector.objects.filter(space_id=space_id, data__isnull=False).values("collection")
    return dict(counted.annotate(rows=Count("pk")).order_by("collection").values_list("collection", "rows"))


def is_base_due(space: SpaceKey, collection: str, rows: int) -> bool:
    """Whether a collection is large enough for a base file and has none that is whole and recent."""
    if rows < BASE_MIN_ROWS:
        return False
    try:
        stamp = stamp_read(base_path(space.id, collection))
    except (BaseFileRefused, OSError):
        return True
    if (stamp.signature, stamp.opened, stamp.collection) != (space.signature, space.opened, collection):
        return True
    newer = Vector.objects.filter(space_id=space.id, collection=collection, seq__gt=stamp.last_seq).count()
    return newer >= max(BASE_STALE_ROWS, stamp.rows * BASE_STALE_SHARE)


def base_refresh(space: SpaceKey, collection: str) -> int:
    """Write a collection's base file from its rows, as the one writer. Returns its live rows."""
    path = base_path(space.id, collection)
    drafts_remove(path)
    rows = rows_read(space.id, collection, space.dim)
    base_write(path, FaissBase.from_rows(rows), space=space, collection=collection)
    return len(rows.ids)

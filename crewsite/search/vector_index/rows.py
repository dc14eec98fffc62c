"""Vector rows of one collection as arrays: read from the database, changed in memory. Nothing here knows
faiss or files.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from crewsite.embeddings.vectors import vectors_since

logger = logging.getLogger(__name__)

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]
Found = list[tuple[int, float]]

# Read before every search; through the ORM these two reads took longer than the search itself.
_ACTIVE = (
    "SELECT space.id, space.signature, space.dim, space.created_at,"
    " (SELECT MAX(vector.seq) FROM embeddings_vector AS vector"
    " WHERE vector.space_id = space.id AND vector.collection = %s)"
    " FROM embeddings_space AS space WHERE space.status = 'active'"
)


@dataclass(frozen=True, slots=True)
class SpaceKey:
    """A space as the index needs it. When it was opened tells two spaces of one number apart."""

    id: int
    signature: str
    dim: int
    opened: str


def active_state(collection: str) -> tuple[SpaceKey, int] | None:
    """The active space, and the newest number of a collection in it (0 when it has no rows). One indexed
    read.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ACTIVE, [collection])
        row = cursor.fetchone()
    return None if row is None else (SpaceKey(row[0], row[1], row[2], str(row[3])), row[4] or 0)


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows up to `last_seq`: live ones in object id order with their float16 vectors, then tombstones."""

    ids: Ids
    seqs: Ids
    vectors: NDArray[np.float16]
    dead_ids: Ids
    dead_seqs: Ids
    last_seq: int


def rows_read(space_id: int, collection: str, dim: int) -> Rows:
    """Read while others write: a row changed meanwhile is met again at a higher number, and the later
    counts.
    """
    live: dict[int, tuple[int, bytes]] = {}
    dead: dict[int, int] = {}
    last_seq = 0
    for object_id, seq, data in vectors_since(space_id, collection, 0):
        last_seq = seq
        if data is not None and is_whole(data, dim, object_id):
            live[object_id] = (seq, data)
            dead.pop(object_id, None)
        else:
            live.pop(object_id, None)
            dead[object_id] = seq
    ids = sorted(live)
    return Rows(
        ids=np.array(ids, dtype=np.int64),
        seqs=np.array([live[object_id][0] for object_id in ids], dtype=np.int64),
        vectors=np.frombuffer(b"".join(live[object_id][1] for object_id in ids), dtype="<f2").reshape(
            -1, dim
        ),
        dead_ids=np.array(list(dead), dtype=np.int64),
        dead_seqs=np.array(list(dead.values()), dtype=np.int64),
        last_seq=last_seq,
    )


def is_whole(data: bytes, dim: int, object_id: int) -> bool:
    if len(data) == dim * 2:
        return True
    logger.error(
        "The vector of object %s has %d bytes instead of %d; left out.", object_id, len(data), dim * 2
    )
    return False


def places_of(sorted_ids: Ids, asked: Ids) -> tuple[Ids, NDArray[np.bool_]]:
    """Places of the asked ids in a sorted array, and which of them are there."""
    if not len(sorted_ids):
        return np.zeros(len(asked), dtype=np.int64), np.zeros(len(asked), dtype=np.bool_)
    places = np.minimum(np.searchsorted(sorted_ids, asked), len(sorted_ids) - 1)
    return places, sorted_ids[places] == asked


def best(scores: Floats, ids: Ids, k: int) -> Found:
    """The `k` highest as (object id, score), highest first."""
    if k < len(scores):
        part = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
        scores, ids = scores[part], ids[part]
    order = np.argsort(-scores, kind="stable")
    return [(int(ids[i]), float(scores[i])) for i in order if np.isfinite(scores[i])]


class Delta:
    """Changed vectors kept beside a base. Grows by appending, so a search in another thread reads a whole
    state.
    """

    def __init__(self, dim: int) -> None:
        self._matrix: Floats = np.empty((0, dim), dtype=np.float32)
        self._ids: Ids = np.empty(0, dtype=np.int64)
        self._alive: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        self._places: dict[int, int] = {}
        self._used = 0

    def copy(self) -> Delta:
        other = Delta(self._matrix.shape[1])
        other._matrix, other._ids, other._alive = self._matrix.copy(), self._ids.copy(), self._alive.copy()
        other._places, other._used = dict(self._places), self._used
        return other

    def __len__(self) -> int:
        return len(self._places)

    @property
    def used(self) -> int:
        """Rows taken up, replaced and dropped ones included."""
        return self._used

    def put(self, object_id: int, data: bytes) -> None:
        self.drop(object_id)
        if self._used == len(self._ids):
            self._grow()
        place = self._used
        self._matrix[place] = np.frombuffer(data, dtype="<f2")
        self._ids[place], self._alive[place] = object_id, True
        self._places[object_id] = place
        self._used += 1

    def drop(self, object_id: int) -> None:
        place = self._places.pop(object_id, None)
        if place is not None:
            self._alive[place] = False

    def search(self, query: Floats, k: int) -> Found:
        used = self._used
        if not used:
            return []
        scores = self._matrix[:used] @ query
        scores[~self._alive[:used]] = -np.inf
        return best(scores, self._ids[:used], k)

    def places_in(self, ids: Ids) -> list[tuple[int, Floats]]:
        """Where in `ids` an object stands that has a vector here, and the vector."""
        places = self._places
        if not places:
            return []
        found = ((place, places.get(object_id)) for place, object_id in enumerate(ids.tolist()))
        return [(place, self._matrix[row]) for place, row in found if row is not None]

    def _grow(self) -> None:
        """New arrays instead of larger ones: a search that holds the old ones goes on undisturbed."""
        size = max(64, 2 * len(self._ids))
        matrix = np.empty((size, self._matrix.shape[1]), dtype=np.float32)
        matrix[: self._used] = self._matrix[: self._used]
        ids, alive = np.empty(size, dtype=np.int64), np.zeros(size, dtype=np.bool_)
        ids[: self._used], alive[: self._used] = self._ids[: self._used], self._alive[: self._used]
        self._matrix, self._ids, self._alive = matrix, ids, alive

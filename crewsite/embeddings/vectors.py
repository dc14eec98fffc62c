"""Storing and reading vector rows. Every change takes a new sequence number, by which indexes follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Max

from crewsite.embeddings.constants import ROWS_PER_FETCH, ROWS_PER_STATEMENT
from crewsite.embeddings.models import Vector
from crewsite.embeddings.spaces import active_space

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import FloatVector
    from crewsite.embeddings.service import Embedding

# One statement checks that the space is still active, takes the numbers and locks the row until the caller
# commits. Both databases understand it.
_TAKE_ACTIVE = (
    "UPDATE embeddings_space SET last_seq = last_seq + %s WHERE signature = %s AND status = 'active'"
    " RETURNING id, dim, last_seq"
)
# Read by every index after every write; through the ORM the one row took longer to ask for than to use.
_SINCE = (
    "SELECT object_id, seq, data FROM embeddings_vector"
    " WHERE space_id = %s AND collection = %s AND seq > %s ORDER BY seq LIMIT %s"
)
_PUT = (
    "INSERT INTO embeddings_vector (space_id, collection, object_id, text_hash, data, seq)"
    " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (space_id, collection, object_id) DO UPDATE"
    " SET text_hash = excluded.text_hash, data = excluded.data, seq = excluded.seq"
)
# Spaces in id order, so that two drops never wait for each other in a ring. They are named because the index
# begins with them.
_FILLED = (
    "SELECT space_id, id FROM embeddings_vector WHERE space_id IN (SELECT id FROM embeddings_space)"
    " AND collection = %s AND object_id IN ({ids}) AND data IS NOT NULL ORDER BY space_id, id"
)
_EMPTY = "UPDATE embeddings_vector SET data = NULL, seq = %s WHERE id = %s"
_TAKE = "UPDATE embeddings_space SET last_seq = last_seq + %s WHERE id = %s RETURNING last_seq"
_TAKE_IN = "UPDATE embeddings_space SET last_seq = last_seq + %s WHERE id = %s RETURNING id, dim, last_seq"


@dataclass(frozen=True, slots=True)
class VectorItem:
    """One vector to store. `text_hash` says which text it was made from."""

    collection: str
    object_id: int
    text_hash: str
    embedding: Embedding


def vector_put(*, collection: str, object_id: int, text_hash: str, embedding: Embedding) -> bool:
    """Store one vector in the caller's transaction. False: it is not of the active space; leave it to the
    backfill."""
    return vectors_put_many([VectorItem(collection, object_id, text_hash, embedding)]) == 1


def vectors_put_many(items: Sequence[VectorItem]) -> int:
    """Store many in the caller's transaction; of two for one object the later counts. Returns how many are
    stored.

    Vectors of another space than the active one are left out: the model changed after they were made.
    """
    _require_transaction()
    latest = {(item.collection, item.object_id): item for item in items}
    stored = 0
    for signature in dict.fromkeys(item.embedding.signature for item in latest.values()):
        stored += _put_signature(
            signature, [i for i in latest.values() if i.embedding.signature == signature]
        )
    return stored


def _put_signature(signature: str, items: list[VectorItem]) -> int:
    taken = _take_active(signature, len(items))
    if taken is None:
        # Either the model changed, or this is the first vector of a fresh store and the space is not opened
        # yet.
        space = active_space()
        if space is None or space.signature != signature:
            return 0
        taken = _take_active(signature, len(items))
        if taken is None:
            return 0
    return _insert(taken, items)


def vectors_put_in(space_id: int, items: Sequence[VectorItem]) -> int:
    """Store vectors in a space that is being built, in the caller's transaction. 0 when it is gone."""
    _require_transaction()
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_IN, [len(items), space_id])
        row = cursor.fetchone()
    return 0 if row is None else _insert((row[0], row[1], row[2] - len(items) + 1), items)


def _insert(taken: tuple[int, int, int], items: Sequence[VectorItem]) -> int:
    space_id, dim, first = taken
    rows = [
        (
            space_id,
            item.collection,
            item.object_id,
            item.text_hash,
            vector_encode(item.embedding.vector, dim=dim),
            first + offset,
        )
        for offset, item in enumerate(items)
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_PUT, rows)
    return len(rows)


def vector_drop(*, collection: str, object_id: int) -> None:
    """Empty the object's vectors in every space and leave tombstones, so that every process drops them."""
    vectors_drop_many(collection=collection, object_ids=[object_id])


def vectors_drop_many(*, collection: str, object_ids: Sequence[int]) -> int:
    """`vector_drop` for many objects of one collection. Returns how many vectors were emptied."""
    _require_transaction()
    dropped = 0
    for start in range(0, len(object_ids), ROWS_PER_STATEMENT):
        part = object_ids[start : start + ROWS_PER_STATEMENT]
        places = ", ".join(["%s"] * len(part))
        with connection.cursor() as cursor:
            cursor.execute(_FILLED.format(ids=places), [collection, *part])
            rows = cursor.fetchall()
        for space_id in dict.fromkeys(row[0] for row in rows):
            dropped += _drop_in_space(space_id, [row[1] for row in rows if row[0] == space_id])
    return dropped


def _drop_in_space(space_id: int, vector_ids: list[int]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, [len(vector_ids), space_id])
        first = cursor.fetchone()[0] - len(vector_ids) + 1
        cursor.executemany(_EMPTY, [(first + offset, pk) for offset, pk in enumerate(vector_ids)])
    return len(vector_ids)


def collection_seq(space_id: int, collection: str) -> int:
    """The newest sequence number of a collection; 0 when it has no rows. One indexed read."""
    newest = Vector.objects.filter(space_id=space_id, collection=collection).aggregate(newest=Max("seq"))
    return newest["newest"] or 0


def vectors_since(space_id: int, collection: str, seq: int) -> Iterator[tuple[int, int, bytes | None]]:
    """Changes after `seq` in order, streamed: (object id, seq, float16 bytes, or None for a tombstone)."""
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_SINCE, [space_id, collection, seq, ROWS_PER_FETCH])
            rows = cursor.fetchall()
        for object_id, row_seq, data in rows:
            yield object_id, row_seq, None if data is None else bytes(data)
        if len(rows) < ROWS_PER_FETCH:
            return
        seq = rows[-1][1]


def vectors_of(space_id: int, collection: str, object_ids: Sequence[int]) -> dict[int, bytes]:
    """The stored float16 bytes of these objects; objects without a vector are left out."""
    found: dict[int, bytes] = {}
    for start in range(0, len(object_ids), ROWS_PER_STATEMENT):
        rows = Vector.objects.filter(
            space_id=space_id,
            collection=collection,
            object_id__in=object_ids[start : start + ROWS_PER_STATEMENT],
            data__isnull=False,
        )
        pairs = rows.values_list("object_id", "data")
        found.update((object_id, bytes(data)) for object_id, data in pairs if data is not None)
    return found


def vector_encode(vector: FloatVector, *, dim: int) -> bytes:
    """Little-endian float16. Raises ValueError on another length than the space's."""
    if vector.shape != (dim,):
        raise ValueError(f"A vector of shape {vector.shape} does not fit a space of {dim}.")
    return bytes(vector.astype("<f2").tobytes())


def vector_decode(data: bytes) -> FloatVector:
    """float32 `(dim,)`, normalised again because float16 rounding moves the length by up to 1e-3."""
    import numpy as np

    vector = np.frombuffer(data, dtype="<f2").astype(np.float32)
    norm = float(np.linalg.norm(vector))
    return vector / np.float32(norm) if norm else vector


def _take_active(signature: str, count: int) -> tuple[int, int, int] | None:
    """(space id, dim, first number) of `count` fresh numbers, or None when that space is not the active
    one."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_ACTIVE, [count, signature])
        row = cursor.fetchone()
    return None if row is None else (row[0], row[1], row[2] - count + 1)


def _require_transaction() -> None:
    if not connection.in_atomic_block:
        raise RuntimeError("Vectors are written only inside the transaction that writes their object.")

"""Storing and reading vector rows. Every change takes a new sequence number, by which indexes follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Max

from crewsite.embeddings.constants import ROWS_PER_FETCH, ROWS_PER_STATEMENT
from crewsite.embeddings.models import Space, Vector
from crewsite.embeddings.spaces import active_space

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import FloatVector
    from crewsite.embeddings.service import Embedding

VECTOR_KEY = ["space", "collection", "object_id"]

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
_TAKE = "UPDATE embeddings_space SET last_seq = last_seq + %s WHERE id = %s RETURNING last_seq"


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
    space_id, dim, first = taken
    rows = [
        Vector(
            space_id=space_id,
            collection=item.collection,
            object_id=item.object_id,
            text_hash=item.text_hash,
            data=vector_encode(item.embedding.vector, dim=dim),
            seq=first + offset,
        )
        for offset, item in enumerate(items)
    ]
    _upsert(rows, ["text_hash", "data", "seq"])
    return len(rows)


def _upsert(rows: list[Vector], fields: list[str]) -> None:
    """One statement for many rows; ten times faster than `bulk_update`, whose CASE lists every row."""
    Vector.objects.bulk_create(
        rows,
        batch_size=ROWS_PER_STATEMENT,
        update_conflicts=True,
        unique_fields=VECTOR_KEY,
        update_fields=fields,
    )


def vector_drop(*, collection: str, object_id: int) -> None:
    """Empty the object's vectors in every space and leave tombstones, so that every process drops them."""
    vectors_drop_many(collection=collection, object_ids=[object_id])


def vectors_drop_many(*, collection: str, object_ids: Sequence[int]) -> int:
    """`vector_drop` for many objects of one collection. Returns how many vectors were emptied."""
    _require_transaction()
    dropped = 0
    for start in range(0, len(object_ids), ROWS_PER_STATEMENT):
        part = object_ids[start : start + ROWS_PER_STATEMENT]
        # Spaces in id order, so that two drops never wait for each other in a ring.
        rows = list(
            Vector.objects.filter(
                space__in=Space.objects.all(), collection=collection, object_id__in=part, data__isnull=False
            )
            .defer("data")
            .order_by("space_id", "pk")
        )
        for space_id in dict.fromkeys(row.space_id for row in rows):
            dropped += _drop_in_space(space_id, [row for row in rows if row.space_id == space_id])
    return dropped


def _drop_in_space(space_id: int, rows: list[Vector]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, [len(rows), space_id])
        first = cursor.fetchone()[0] - len(rows) + 1
    tombstones = [
        Vector(
            space_id=space_id,
            collection=row.collection,
            object_id=row.object_id,
            text_hash=row.text_hash,
            data=None,
            seq=first + offset,
        )
        for offset, row in enumerate(rows)
    ]
    _upsert(tombstones, ["data", "seq"])
    return len(rows)


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

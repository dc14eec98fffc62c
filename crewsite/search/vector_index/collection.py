"""One collection's vectors as this process knows them: a base, what changed after it, and the number it has
read up to.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Literal

import numpy as np
from django.db.models import Count, Sum

from crewsite.embeddings.models import Vector
from crewsite.embeddings.vectors import collection_seq, vectors_of, vectors_since
from crewsite.search.constants import BASE_STALE_SHARE, BASE_TAIL_CHECKED, DELTA_MAX_ROWS
from crewsite.search.vector_index.base import ArrayBase, Base, FaissBase, has_faiss
from crewsite.search.vector_index.base_file import FileState, base_open, base_path, file_state
from crewsite.search.vector_index.rows import (
    Delta,
    Floats,
    Found,
    Ids,
    SpaceKey,
    is_whole,
    places_of,
    rows_read,
)

logger = logging.getLogger(__name__)


def _seen(base: Base, hidden: set[int], query: Floats, k: int) -> Found:
    """The `k` nearest of a base that are not hidden. Few of the nearest ever are, and asking for as many more
    as could be makes every search of a home that evicts several times slower."""
    if not hidden:
        return base.search(query, k)
    for more in (min(len(hidden), k), len(hidden)):
        found = [hit for hit in base.search(query, k + more) if hit[0] not in hidden]
        if len(found) >= k or more == len(hidden):
            break
    return found[:k]


@dataclass(frozen=True, slots=True)
class State:
    """What a search reads, taken once: a base, what changed after it, and the ids whose place in the base no
    longer counts. What changes is put in; another base comes with a state of its own, which is whole before
    anybody sees it."""

    base: Base
    delta: Delta
    hidden: set[int]


class CollectionIndex:
    """Refreshed from the rows before every search; searched without a lock."""

    def __init__(self, space: SpaceKey, collection: str) -> None:
        self.space, self.collection = space, collection
        self.engine: Literal["faiss", "numpy"] = "faiss" if has_faiss() else "numpy"
        self._lock = threading.RLock()
        self._path = base_path(space.id, collection)
        self._file: FileState | None = None
        self._state: State | None = None
        self._seq = 0

    def __len__(self) -> int:
        """Objects that have a vector."""
        state = self._state
        return len(state.delta) + len(state.base.ids) - len(state.hidden) if state is not None else 0

    def refresh(self, newest: int) -> CollectionIndex:
        """Take in what was committed up to the newest number, and after. Not for use inside a transaction."""
        with self._lock:
            if self._state is None or file_state(self._path) != self._file or self._is_older(newest):
                self._load()
            elif newest > self._seq:
                self._pull()
        return self

    def read_on(self) -> None:
        """Take in what was committed since, if the index was read at all."""
        with self._lock:
            self._pull()

    def in_transaction(self, newest: int) -> CollectionIndex:
        """The same with what the running transaction wrote, which may be rolled back and so never enters the
        shared state.
        """
        with self._lock:
            state = self._state
            if state is not None and newest == self._seq:
                return self
            view = CollectionIndex(self.space, self.collection)
            if state is None or self._is_older(newest):
                view._load()
                return view
            view.engine, view._file, view._seq = self.engine, self._file, self._seq
            view._state = State(state.base, state.delta.copy(), set(state.hidden))
            view._pull()
            return view

    def _is_older(self, newest: int) -> bool:
        """Whether the rows have gone back behind what was read of them, as a restored database has.

        Asked again, because another thread may have read on since `newest` was read.
        """
        return newest < self._seq and collection_seq(self.space.id, self.collection) < self._seq

    def fall_back(self) -> None:
        """Go on without faiss, which failed on this collection."""
        with self._lock:
            self.engine = "numpy"
            self._load()

    def search(self, query: Floats, k: int, *, allow_ids: set[int] | None = None) -> Found:
        """The `k` nearest as (object id, cosine), nearest first."""
        state = self._state
        if k <= 0 or state is None:
            return []
        if allow_ids is not None:
            found = list(self.cosines(query, list(allow_ids)).items())
        else:
            found = state.delta.search(query, k) + _seen(state.base, state.hidden, query, k)
        found.sort(key=lambda hit: (-hit[1], hit[0]))
        return found[:k]

    def cosines(self, query: Floats, object_ids: list[int]) -> dict[int, float]:
        """Cosines of given objects; those without a vector are left out."""
        ids = np.array(object_ids, dtype=np.int64)
        found = self.scores(query, ids)
        known = ~np.isnan(found)
        return dict(zip(ids[known].tolist(), found[known].tolist(), strict=True))

    def scores(self, query: Floats, ids: Ids) -> Floats:
        """Cosines of given objects as `(n,)`, NaN for those without a vector."""
        found = np.full(len(ids), np.nan, dtype=np.float32)
        state = self._state
        if state is None or not len(ids):
            return found
        places, there = places_of(state.base.ids, ids)
        if state.hidden:
            there &= np.fromiter((pk not in state.hidden for pk in ids.tolist()), np.bool_, len(ids))
        found[there] = state.base.take(places[there]) @ query
        for place, vector in state.delta.places_in(ids):
            found[place] = vector @ query
        return found

    def _load(self) -> None:
        opened = None
        self._file = file_state(self._path)
        if self.engine == "faiss":
            opened = base_open(self._path, space=self.space, collection=self.collection)
        if opened is not None:
            base, self._file = opened
            state = State(base, Delta(self.space.dim), set())
            seq = self._follow(state, base.last_seq)
            if self._agrees(base):
                self._state, self._seq = state, seq
                return
            logger.warning("The index file %s does not match the rows; reading the rows.", self._path.name)
        self._rebase()

    def _rebase(self) -> None:
        rows = rows_read(self.space.id, self.collection, self.space.dim)
        base = FaissBase.from_rows(rows) if self.engine == "faiss" else ArrayBase(rows)
        self._state, self._seq = State(base, Delta(self.space.dim), set()), base.last_seq

    def _pull(self) -> None:
        state = self._state
        if state is None:
            return
        self._seq = self._follow(state, self._seq)
        grown = max(state.delta.used, len(state.hidden))
        if grown > max(DELTA_MAX_ROWS, len(state.base.ids) * BASE_STALE_SHARE):
            self._rebase()

    def _follow(self, state: State, seq: int) -> int:
        """Put in what was committed after a number; the newest number then."""
        for object_id, newer, data in vectors_since(self.space.id, self.collection, seq):
            if data is not None and is_whole(data, self.space.dim, object_id):
                state.delta.put(object_id, data)
            else:
                state.delta.drop(object_id)
            if places_of(state.base.ids, np.array([object_id], dtype=np.int64))[1][0]:
                state.hidden.add(object_id)
            seq = newer
        return seq

    def _agrees(self, base: FaissBase) -> bool:
        """Whether a file tells the same history as the rows: number and sum of what is unchanged since, and
        the newest.
        """
        newer = Vector.objects.filter(
            space_id=self.space.id, collection=self.collection, seq__gt=base.last_seq
        )
        changed = list(newer.values_list("object_id", flat=True))
        counted = Vector.objects.filter(
            space_id=self.space.id, collection=self.collection, seq__lte=base.last_seq
        ).aggregate(rows=Count("seq"), total=Sum("seq"))
        ids, seqs = np.concatenate([base.ids, base.dead_ids]), np.concatenate([base.seqs, base.dead_seqs])
        kept = ~np.isin(ids, np.array(changed, dtype=np.int64))
        if (int(kept.sum()), int(seqs[kept].sum())) != (counted["rows"], counted["total"] or 0):
            return False
        live = np.flatnonzero(kept[: len(base.ids)])
        newest = live[np.argsort(-base.seqs[live])][:BASE_TAIL_CHECKED]
        stored = vectors_of(self.space.id, self.collection, base.ids[newest].tolist())
        taken = base.take(newest).astype("<f2")
        return all(
            stored.get(object_id) == vector.tobytes()
            for object_id, vector in zip(base.ids[newest].tolist(), taken, strict=True)
        )

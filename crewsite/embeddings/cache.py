"""The small LRU of recent vectors, so that a repeated query costs no inference."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import FloatVector, Kind

CacheKey = tuple[bytes, str, str]


def cache_key(text: str, kind: Kind, signature: str) -> CacheKey:
    """Texts are keyed by digest: a cached megabyte of text would otherwise stay in memory as its own key."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), kind, signature


class VectorCache:
    """Thread-safe, bounded, least recently used goes first."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._lock = threading.Lock()
        self._rows: OrderedDict[CacheKey, FloatVector] = OrderedDict()

    def get(self, key: CacheKey) -> FloatVector | None:
        with self._lock:
            vector = self._rows.get(key)
            if vector is not None:
                self._rows.move_to_end(key)
            return vector

    def put(self, key: CacheKey, vector: FloatVector) -> None:
        with self._lock:
            self._rows[key] = vector
            self._rows.move_to_end(key)
            while len(self._rows) > self._entries:
                self._rows.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._rows.clear()

    def __len__(self) -> int:
        return len(self._rows)

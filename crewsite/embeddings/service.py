"""The one way to embed text: which back end runs, its cache, and its state. No other app touches a back
end's library."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from crewsite.embeddings.absent import AbsentEmbedder
from crewsite.embeddings.cache import VectorCache, cache_key
from crewsite.embeddings.constants import ABSENT_RECHECK_SECONDS, CACHE_ENTRIES, POOL_THREADS
from crewsite.embeddings.failures import failure_record
from crewsite.embeddings.selection import chosen_path, configured_backend, pinned_by

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import EmbeddingBackend, FloatVector, Kind

BackendFactory = Callable[[], "EmbeddingBackend"]


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """One vector and the signature it may be compared under: float32 `(dim,)`, L2-normalised, read-only."""

    signature: str
    vector: FloatVector


@dataclass(frozen=True, slots=True)
class EmbedderStatus:
    """What the embedder is doing, for status pages and the `degraded` list."""

    state: Literal["absent", "loading", "ready", "failed"]
    model_id: str
    dim: int
    error: str = ""


_lock = threading.Lock()
_factory: BackendFactory = configured_backend
_backend: EmbeddingBackend | None = None
_absent_checked_at = 0.0
_cache = VectorCache(CACHE_ENTRIES)
_pool: ThreadPoolExecutor | None = None


def get_embedder() -> EmbeddingBackend:
    """The process's back end, made on first use. While no model is installed, looks again every few
    seconds."""
    global _backend, _absent_checked_at  # noqa: PLW0603 - the singleton this module exists to hold
    current = _backend
    if current is not None and not _is_stale(current):
        return current
    with _lock:
        if _backend is None or _is_stale(_backend):
            _backend = _factory()
            _absent_checked_at = time.monotonic()
        return _backend


def _is_stale(backend: EmbeddingBackend) -> bool:
    return (
        isinstance(backend, AbsentEmbedder)
        and time.monotonic() - _absent_checked_at >= ABSENT_RECHECK_SECONDS
    )


def set_backend(factory: BackendFactory) -> None:
    """Use another back end from now on; the running one is closed."""
    global _factory  # noqa: PLW0603
    _swap()
    _factory = factory


def reset() -> None:
    """Back to the configured back end, with nothing loaded and nothing cached."""
    set_backend(configured_backend)


def adopt(backend: EmbeddingBackend) -> None:
    """Use this ready back end, which is what the settings ask for by now; the running one is closed."""
    global _backend  # noqa: PLW0603
    _swap()
    with _lock:
        _backend = backend


def follow_choice() -> bool:
    """Whether another model was chosen on this host than this process runs; it begins to load then."""
    running = getattr(_backend, "path", None)
    if running is None or _factory is not configured_backend or pinned_by() or chosen_path() == running:
        return False
    _swap()
    start_loading()
    return True


def cache_clear() -> None:
    _cache.clear()


def _swap() -> None:
    global _backend
    with _lock:
        old, _backend = _backend, None
    _cache.clear()
    if old is not None:
        old.close()


def start_loading() -> None:
    """Begin to load the model in the background. Returns at once; called when a web or worker process
    starts."""
    backend = get_embedder()
    if not backend.is_ready():
        threading.Thread(target=backend.wait_ready, args=(0.0,), name="embed-start", daemon=True).start()


def embedder_status() -> EmbedderStatus:
    """Never loads anything: a model that is installed and not asked for yet counts as loading."""
    backend = get_embedder()
    if isinstance(backend, AbsentEmbedder):
        return EmbedderStatus("absent", "", 0, backend.error)
    if backend.is_ready():
        return EmbedderStatus("ready", backend.model_id, backend.dim)
    error = backend.error
    return EmbedderStatus("failed" if error else "loading", backend.model_id, backend.dim, error)


def embed_query(text: str) -> Embedding | None:
    """The vector of a question, cached; goes ahead of running batches. `None` when there is no ready
    embedder."""
    return _embed_one(text, "query")


def embed_document(text: str) -> Embedding | None:
    """The vector of a stored text, cached. `None` when there is no ready embedder: leave it to the
    backfill."""
    return _embed_one(text, "document")


def embed_documents(texts: Sequence[str]) -> list[Embedding | None]:
    """Vectors of many stored texts in their order. Reads the cache but does not fill it: a batch would
    evict it."""
    if not texts:
        return []
    backend = get_embedder()
    signature = backend.signature
    found = [_cache.get(cache_key(text, "document", signature)) if signature else None for text in texts]
    missing = [index for index, vector in enumerate(found) if vector is None]
    try:
        fresh = backend.embed_batch([texts[index] for index in missing]) if missing else []
    except Exception as error:  # chapter 03: any failure is None, never an exception to a caller
        failure_record(f"batch:{type(error).__name__}", error)
        fresh = [None] * len(missing)
    for index, vector in zip(missing, fresh, strict=True):
        found[index] = vector
    signature = backend.signature
    return [None if vector is None else Embedding(signature, vector) for vector in found]


async def embed_query_async(text: str) -> Embedding | None:
    """`embed_query` for the event loop, run in the bounded pool so that slow inference cannot use up other
    threads."""
    return await asyncio.get_running_loop().run_in_executor(_embed_pool(), embed_query, text)


def _embed_pool() -> ThreadPoolExecutor:
    global _pool  # noqa: PLW0603
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max_workers=POOL_THREADS, thread_name_prefix="embed")
        return _pool


def _cached(text: str, kind: Kind) -> Embedding | None:
    signature = get_embedder().signature
    vector = _cache.get(cache_key(text, kind, signature)) if signature else None
    return None if vector is None else Embedding(signature, vector)


def _embed_one(text: str, kind: Kind) -> Embedding | None:
    cached = _cached(text, kind)
    if cached is not None:
        return cached
    backend = get_embedder()
    try:
        vector = backend.embed(text, kind)
    except Exception as error:
        failure_record(f"embed:{type(error).__name__}", error)
        return None
    if vector is None:
        return None
    signature = backend.signature
    vector.flags.writeable = False
    _cache.put(cache_key(text, kind, signature), vector)
    return Embedding(signature, vector)


def _forget_after_fork() -> None:
    """A child has the parent's memory but not its threads: locks may be held for ever and a load never ends.

    The old back end is dropped without being closed, because closing would wait for such a lock.
    """
    global _lock, _backend, _cache, _pool  # noqa: PLW0603
    _lock = threading.Lock()
    _backend, _pool = None, None
    _cache = VectorCache(CACHE_ENTRIES)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)

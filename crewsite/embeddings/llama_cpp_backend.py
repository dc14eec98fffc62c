"""The in-process embedder: loads a GGUF file in the background and runs one inference at a time."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crewsite.embeddings.constants import (
    LOAD_RETRY_SECONDS,
    MAX_TEXT_CHARS,
    MAX_WINDOWS,
    SIGNATURE_HASH_CHARS,
)
from crewsite.embeddings.cores import busy_cores, core_count, threads_for
from crewsite.embeddings.failures import failure_record
from crewsite.embeddings.files import file_sha256
from crewsite.embeddings.priority import PriorityLock
from crewsite.embeddings.windows import mean_direction, normalised, windows

if TYPE_CHECKING:
    from crewsite.embeddings.llama_session import LlamaSession
    from crewsite.embeddings.models_catalog import ModelSpec
    from crewsite.embeddings.protocol import FloatVector, Kind

logger = logging.getLogger(__name__)


class LlamaCppEmbedder:
    """Follows `protocol.EmbeddingBackend`. Weights are memory-mapped, so processes share them."""

    def __init__(self, path: Path, spec: ModelSpec, *, retry_seconds: float = LOAD_RETRY_SECONDS) -> None:
        self.model_id = spec.model_id
        self.dim = 0
        self.signature = ""
        self.error = ""
        self.path = path
        self._spec = spec
        self._retry_seconds = retry_seconds
        self._session: LlamaSession | None = None
        self._closed = False
        self._failed_at: float | None = None
        self._state = threading.Lock()
        self._users = 0
        self._unused = threading.Condition(self._state)
        self._loader: threading.Thread | None = None
        self._inference = PriorityLock()
        self._cores = core_count()

    def is_ready(self) -> bool:
        return self._session is not None

    def wait_ready(self, timeout: float) -> bool:
        loader = self._start_load()
        if loader is not None:
            loader.join(timeout)
        return self.is_ready()

    def embed(self, text: str, kind: Kind = "document") -> FloatVector | None:
        if not self.is_ready():
            self._start_load()
            return None
        return self._embed(text, kind, urgent=True)

    def embed_batch(self, texts: Sequence[str], kind: Kind = "document") -> list[FloatVector | None]:
        if not self.is_ready():
            self._start_load()
            return [None] * len(texts)
        return [self._embed(text, kind, urgent=False) for text in texts]

    def close(self) -> None:
        with self._state:
            self._closed = True
            loader = self._loader
        if loader is not None:
            loader.join()
        with self._unused:
            session, self._session = self._session, None
            self._unused.wait_for(lambda: self._users == 0)
        if session is not None:
            session.close()

    @contextmanager
    def _using(self) -> Iterator[LlamaSession | None]:
        """The session, which `close` does not free before this block ends; None when there is none."""
        with self._state:
            session = self._session
            self._users += 1
        try:
            yield session
        finally:
            with self._unused:
                self._users -= 1
                self._unused.notify_all()

    def _start_load(self) -> threading.Thread | None:
        """The thread that loads, started if none runs; None when ready, closed, or a failed load is too
        recent."""
        with self._state:
            if self._closed or self.is_ready():
                return None
            if self._loader is not None and self._loader.is_alive():
                return self._loader
            if self._failed_at is not None and time.monotonic() - self._failed_at < self._retry_seconds:
                return None
            self._loader = threading.Thread(target=self._load, name="embed-load", daemon=True)
            self._loader.start()
            # A process that ends in the middle of a load would tear the library down under the thread's feet.
            atexit.register(self._loader.join)
            return self._loader

    def _load(self) -> None:
        try:
            from crewsite.embeddings.llama_session import LlamaSession

            digest = file_sha256(self.path)
            session = LlamaSession(self.path, max_tokens=self._spec.max_tokens)
        except Exception as error:  # a broken file or library leaves the site running without vectors
            self.error = str(error)
            self._failed_at = time.monotonic()
            failure_record("load", error)
            return
        self.dim = session.dim
        self.signature = f"{self.model_id}:{digest[:SIGNATURE_HASH_CHARS]}:{self._spec.prompt_tag}"
        self.error = ""
        self._session = session
        logger.info("Embedder ready: %s, %d numbers a vector.", self.model_id, self.dim)

    def _embed(self, text: str, kind: Kind, *, urgent: bool) -> FloatVector | None:
        if not text.strip():
            return None
        with self._using() as session:
            if session is None:
                return None
            try:
                return self._embed_in(session, self._spec.prefix(kind) + text[:MAX_TEXT_CHARS], urgent=urgent)
            except Exception as error:  # chapter 03: any failure is None
                failure_record(f"llama.cpp:{type(error).__name__}", error)
                return None

    def _embed_in(self, session: LlamaSession, text: str, *, urgent: bool) -> FloatVector | None:
        tokens = session.tokenize(text)
        parts = []
        for start, end in windows(len(tokens), size=session.room, limit=MAX_WINDOWS):
            # Taken anew for every window, so that a question waits for one window and not for a whole text.
            with self._inference.hold(urgent=urgent):
                threads = threads_for(end - start, cores=self._cores, busy=busy_cores())
                vector = normalised(session.embed(tokens[start:end], threads=threads))
            if vector is None:
                failure_record("no direction", "The model gave a vector of zeros or not-a-number.")
                return None
            parts.append((vector, end - start))
        return parts[0][0] if len(parts) == 1 else mean_direction(parts)

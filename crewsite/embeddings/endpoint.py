"""An embedder behind an OpenAI-compatible `/v1/embeddings` address: Ollama, vLLM, llama-server and the
like."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from crewsite.embeddings.constants import (
    ENDPOINT_BATCH,
    ENDPOINT_CONNECT_SECONDS,
    ENDPOINT_READ_SECONDS,
    ENDPOINT_TEXT_CHARS,
    LOAD_RETRY_SECONDS,
    SIGNATURE_HASH_CHARS,
)
from crewsite.embeddings.failures import failure_record
from crewsite.embeddings.models_catalog import spec_for_file
from crewsite.embeddings.windows import normalised

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import FloatVector, Kind


class EndpointError(Exception):
    """The endpoint answered with something that is not the vectors asked for."""


class EndpointEmbedder:
    """Follows `protocol.EmbeddingBackend`. Being ready means that one probe text came back as a vector."""

    def __init__(
        self, *, base_url: str, api_key: str, model: str, retry_seconds: float = LOAD_RETRY_SECONDS
    ) -> None:
        self.model_id = model[:100] or "default"
        self.dim = 0
        self.signature = ""
        self.error = ""
        self._url = _embeddings_url(base_url)
        self._model = model
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        # A served model's name may carry its maker's name and a tag: `Qwen/Qwen3-Embedding-0.6B`,
        # `name:latest`.
        self._spec = spec_for_file(model.rsplit("/", 1)[-1])
        self._retry_seconds = retry_seconds
        self._state = threading.Lock()
        self._loader: threading.Thread | None = None
        self._failed_at: float | None = None
        self._client: Any = None

    def is_ready(self) -> bool:
        return bool(self.signature)

    def wait_ready(self, timeout: float) -> bool:
        loader = self._start_probe()
        if loader is not None:
            loader.join(timeout)
        return self.is_ready()

    def embed(self, text: str, kind: Kind = "document") -> FloatVector | None:
        return self.embed_batch([text], kind)[0]

    def embed_batch(self, texts: Sequence[str], kind: Kind = "document") -> list[FloatVector | None]:
        if not self.is_ready():
            self._start_probe()
            return [None] * len(texts)
        vectors: list[FloatVector | None] = []
        for start in range(0, len(texts), ENDPOINT_BATCH):
            vectors.extend(self._embed_part(texts[start : start + ENDPOINT_BATCH], kind))
        return vectors

    def close(self) -> None:
        with self._state:
            client, self._client = self._client, None
            self.signature = ""
            self._failed_at = time.monotonic()
        if client is not None:
            client.close()

    def _embed_part(self, texts: Sequence[str], kind: Kind) -> list[FloatVector | None]:
        wanted = [index for index, text in enumerate(texts) if text.strip()]
        vectors: list[FloatVector | None] = [None] * len(texts)
        prefix = self._spec.prefix(kind)
        try:
            found = self._request([prefix + texts[i][:ENDPOINT_TEXT_CHARS] for i in wanted]) if wanted else []
        except Exception as error:  # chapter 03: any failure is None
            failure_record(f"endpoint:{type(error).__name__}", error)
            return vectors
        for index, vector in zip(wanted, found, strict=True):
            if vector.shape == (self.dim,):
                vectors[index] = normalised(vector)
            else:
                failure_record("endpoint:dimension", f"{vector.shape} instead of {self.dim}.")
        return vectors

    def _start_probe(self) -> threading.Thread | None:
        with self._state:
            if self.is_ready():
                return None
            if self._loader is not None and self._loader.is_alive():
                return self._loader
            if self._failed_at is not None and time.monotonic() - self._failed_at < self._retry_seconds:
                return None
            self._loader = threading.Thread(target=self._probe, name="embed-probe", daemon=True)
            self._loader.start()
            return self._loader

    def _probe(self) -> None:
        try:
            dim = int(self._request(["probe"])[0].shape[0])
        except Exception as error:  # as above
            self.error = f"{self._url}: {error}"
            self._failed_at = time.monotonic()
            failure_record("endpoint", self.error)
            return
        # There is no file to hash: address, model name and size stand for it.
        identity = hashlib.sha256(f"{self._url}\0{self._model}\0{dim}".encode()).hexdigest()
        self.dim = dim
        self.error = ""
        self.signature = f"{self.model_id}:{identity[:SIGNATURE_HASH_CHARS]}:{self._spec.prompt_tag}"

    def _request(self, texts: list[str]) -> list[FloatVector]:
        import numpy as np

        body: dict[str, Any] = {"input": texts, "encoding_format": "float"}
        if self._model:
            body["model"] = self._model
        response = self._http().post(self._url, json=body, headers=self._headers)
        response.raise_for_status()
        rows = sorted(response.json()["data"], key=lambda row: row["index"])
        if len(rows) != len(texts):
            raise EndpointError(f"{len(rows)} vectors for {len(texts)} texts.")
        return [np.asarray(row["embedding"], dtype=np.float32) for row in rows]

    def _http(self) -> Any:
        import httpx

        with self._state:
            if self._client is None:
                # Chapter 13: an endpoint set by the operator may be on a private address; redirects are not
                # followed.
                timeout = httpx.Timeout(ENDPOINT_READ_SECONDS, connect=ENDPOINT_CONNECT_SECONDS)
                self._client = httpx.Client(timeout=timeout, follow_redirects=False)
            return self._client


def _embeddings_url(base_url: str) -> str:
    """`http://host:11434`, `.../v1` and the whole address all name the same place."""
    base = base_url.rstrip("/")
    if base.endswith("/embeddings"):
        return base
    return f"{base}/embeddings" if base.endswith("/v1") else f"{base}/v1/embeddings"

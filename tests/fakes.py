"""The fakes tests may use: the embedder. Everything else is the real part."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

DIM = 64


class FakeEmbedder:
    """Deterministic bag-of-words vectors: texts that share words are near, others are not."""

    model_id = "fake"
    dim = DIM
    signature = "fake:0:none"
    error = ""

    def is_ready(self) -> bool:
        return True

    def wait_ready(self, timeout: float) -> bool:
        return True

    def embed(self, text: str, kind: str = "document") -> np.ndarray | None:
        vector = np.zeros(DIM, dtype=np.float32)
        for word in re.findall(r"\w+", text.lower()):
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            vector += np.random.default_rng(seed).standard_normal(DIM).astype(np.float32)
        norm = float(np.linalg.norm(vector))
        return vector / norm if norm else None

    def embed_batch(self, texts: Sequence[str], kind: str = "document") -> list[np.ndarray | None]:
        return [self.embed(text, kind) for text in texts]

    def close(self) -> None:
        return None

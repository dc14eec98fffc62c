"""The embedder of an installation that has no model yet: it embeds nothing and says why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import FloatVector, Kind


class AbsentEmbedder:
    """Answers `None` to everything. `service` replaces it as soon as a model is installed."""

    model_id = ""
    dim = 0
    signature = ""

    def __init__(self, reason: str) -> None:
        self.error = reason

    def is_ready(self) -> bool:
        return False

    def wait_ready(self, timeout: float) -> bool:
        return False

    def embed(self, text: str, kind: Kind = "document") -> FloatVector | None:
        return None

    def embed_batch(self, texts: Sequence[str], kind: Kind = "document") -> list[FloatVector | None]:
        return [None] * len(texts)

    def close(self) -> None:
        return None

"""What every embedder offers. The one place to read before writing another back end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatVector = NDArray[np.float32]

Kind = Literal["document", "query"]


class EmbeddingBackend(Protocol):
    """Turns text into float32 vectors of `dim` numbers, L2-normalised. Any failure is `None`, never an
    exception.

    `model_id`, `dim` and `signature` are empty (`""`, 0) until the back end knows them, at the latest when
    ready. The signature names model, file and prompt style: vectors of two signatures are never compared.
    """

    @property
    def model_id(self) -> str: ...

    @property
    def dim(self) -> int: ...

    @property
    def signature(self) -> str: ...

    @property
    def error(self) -> str:
        """Why the last load failed; empty while loading and when ready."""
        ...

    def is_ready(self) -> bool: ...

    def wait_ready(self, timeout: float) -> bool:
        """Load and wait at most `timeout` seconds. For commands, workers and tests, never for the event
        loop."""
        ...

    def embed(self, text: str, kind: Kind = "document") -> FloatVector | None:
        """Never waits for a load: not ready gives `None` and starts the load."""
        ...

    def embed_batch(self, texts: Sequence[str], kind: Kind = "document") -> list[FloatVector | None]: ...

    def close(self) -> None:
        """Free the model's memory. The back end must not be used afterwards."""
        ...

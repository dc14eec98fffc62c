"""Pure arithmetic of long texts: which windows of tokens are embedded, and how their vectors become one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import FloatVector


def windows(length: int, *, size: int, limit: int) -> list[tuple[int, int]]:
    """Half-open ranges that cover `length` tokens in pieces of at most `size`.

    More than `limit` pieces: that many, spread evenly from the first to the last.
    """
    starts = range(0, max(length, 1), size)
    if len(starts) > limit:
        last = len(starts) - 1
        starts = [starts[round(index * last / (limit - 1))] for index in range(limit)]  # type: ignore[assignment]
    return [(start, min(start + size, length)) for start in starts]


def normalised(vector: FloatVector) -> FloatVector | None:
    """The vector at length 1, float32; None when it has no direction (zero, NaN or infinite)."""
    import numpy as np

    norm = float(np.linalg.norm(vector))
    if not np.isfinite(norm) or norm == 0.0:
        return None
    return (vector / np.float32(norm)).astype(np.float32, copy=False)


def mean_direction(parts: Sequence[tuple[FloatVector, int]]) -> FloatVector | None:
    """The normalised mean of window vectors weighted by their tokens, so that a short tail does not count
    as much."""
    import numpy as np

    total = np.zeros_like(parts[0][0], dtype=np.float32)
    for vector, weight in parts:
        total += vector * np.float32(weight)
    return normalised(total)

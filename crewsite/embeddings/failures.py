"""Counts embedding failures by cause and logs each cause once, so that a dead embedder does not flood the
log."""

from __future__ import annotations

import logging
import threading
from collections import Counter

logger = logging.getLogger(__name__)

_lock = threading.Lock()
_counts: Counter[str] = Counter()


def failure_record(cause: str, detail: object = "") -> None:
    """Count one failure; the first of its cause is logged with its detail."""
    with _lock:
        _counts[cause] += 1
        first = _counts[cause] == 1
    if first:
        logger.warning(
            "Embedding failed: %s. %s Further failures of this cause are only counted.", cause, detail
        )


def failure_counts() -> dict[str, int]:
    """Failures since this process started, by cause."""
    with _lock:
        return dict(_counts)


def failure_clear() -> None:
    """Forget all counts, so that the next failure of each cause is logged again."""
    with _lock:
        _counts.clear()

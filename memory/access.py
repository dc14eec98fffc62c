"""Remembering which episodes were read, without making a read wait:
marks are collected in the process and written together.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone

from crewsite.jobs.errors import MaintenanceInProgress
from memory.constants import ACCESS_FLUSH_SECONDS, ACCESS_MAX_PENDING
from memory.models import EpisodicMemory

logger = logging.getLogger(__name__)

_lock = threading.Lock()
_pending: Counter[int] = Counter()
_timer: threading.Timer | None = None


def note(ids: Iterable[int]) -> None:
    """Mark rows as read now. Touches no database; a timer writes the marks a little later."""
    global _timer  # noqa: PLW0603 - one timer a process
    with _lock:
        for pk in ids:
            if pk in _pending or len(_pending) < ACCESS_MAX_PENDING:
                _pending[pk] += 1
        if _pending and _timer is None and getattr(settings, "CREW_BACKGROUND_WRITES", True):
            _timer = threading.Timer(ACCESS_FLUSH_SECONDS, _flush_in_background)
            _timer.daemon = True
            _timer.start()


def flush() -> int:
    """Write the marks, all with this moment; returns how many rows were marked.
    A failure is logged and drops the marks: they are statistics.
    """
    with _lock:
        counts = Counter(_pending)
        _pending.clear()
    if not counts:
        return 0
    by_count: dict[int, list[int]] = {}
    for pk, count in counts.items():
        by_count.setdefault(count, []).append(pk)
    try:
        with transaction.atomic():
            for count, ids in by_count.items():
                EpisodicMemory.all_objects.filter(pk__in=ids).update(
                    last_accessed_at=timezone.now(), access_count=F("access_count") + count
                )
    except (DatabaseError, MaintenanceInProgress):
        logger.warning("Could not record that %d episodes were read.", len(counts), exc_info=True)
        return 0
    return len(counts)


def _flush_in_background() -> None:
    global _timer  # noqa: PLW0603
    with _lock:
        _timer = None
    try:
        flush()
    finally:
        connection.close()

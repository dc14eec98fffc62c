"""Counts of a collection that may be a moment old: they steer effort and weigh terms, never decide what is
found.
"""

from __future__ import annotations

import threading
import time

from django.db import connection

from crewsite.search.constants import COUNTS_SECONDS, TERM_COUNTS_MAX, TERM_COUNTS_SECONDS

_lock = threading.Lock()
_documents: dict[str, tuple[float, int]] = {}
_terms: dict[tuple[str, str], tuple[float, int]] = {}


def document_count(collection: str) -> int:
    """Documents of a collection; exact inside a transaction and after a write of this process."""
    known = _documents.get(collection)
    if known is not None and known[0] > time.monotonic() and not connection.in_atomic_block:
        return known[1]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM search_document WHERE collection = %s", [collection])
        count = int(cursor.fetchone()[0])
    if not connection.in_atomic_block:
        _documents[collection] = (time.monotonic() + COUNTS_SECONDS, count)
    return count


def forget(collection: str) -> None:
    _documents.pop(collection, None)


def forget_all() -> None:
    _documents.clear()
    _terms.clear()


def term_count(collection: str, text: str) -> int | None:
    """How many documents had a common term when it was last counted; None when that is not known."""
    known = _terms.get((collection, text))
    return known[1] if known is not None and known[0] > time.monotonic() else None


def term_count_set(collection: str, text: str, count: int) -> None:
    with _lock:
        if len(_terms) >= TERM_COUNTS_MAX:
            _terms.clear()
        _terms[(collection, text)] = (time.monotonic() + TERM_COUNTS_SECONDS, count)

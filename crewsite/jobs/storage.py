"""Whether rows can be written at all just now: what the database says of its disk and its files, in words. A
write that failed so changed nothing."""

from __future__ import annotations

import os
import shutil
from typing import Final

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from crewsite.jobs.errors import MaintenanceInProgress, StoreUnavailable

# Below this a write-ahead log of a busy hour no longer fits.
DISK_LEAST_BYTES: Final = 32 * 1024 * 1024

DISK_FULL: Final = ("disk_full", "The disk is full. Nothing was changed; make room and try again.")
READ_ONLY: Final = (
    "read_only",
    "The database may only be read: its file or its folder is write-protected.",
)
BUSY: Final = (
    "database_busy",
    "Another program holds the database. Nothing was changed; try again in a moment.",
)
AWAY: Final = (
    "database_unavailable",
    "The database does not answer. Nothing was changed; try again in a moment.",
)
# What SQLite says, in small letters.
_SAID: Final = {
    "database or disk is full": DISK_FULL,
    "readonly database": READ_ONLY,
    "database is locked": BUSY,
    "database table is locked": BUSY,
    "unable to open database file": AWAY,
    "disk i/o error": AWAY,
}
# How the codes of PostgreSQL begin (its manual, appendix A).
_STATES: Final = {"53100": DISK_FULL, "25006": READ_ONLY, "55P03": BUSY, "40": BUSY, "08": AWAY, "57P": AWAY}


def store_refusal(error: BaseException) -> MaintenanceInProgress | StoreUnavailable | None:
    """Why nothing can be written now; None for an error that is no such thing, but a fault of ours."""
    if isinstance(error, MaintenanceInProgress):
        return error
    if not isinstance(error, DatabaseError | InterfaceError):
        return None
    if connection.vendor == "sqlite":
        said = str(error).lower() if isinstance(error, OperationalError) else ""
        found = next((told for words, told in _SAID.items() if words in said), None)
    else:
        found = _of_server(error)
    if found is None:
        return None
    code, text = found
    return StoreUnavailable(text, code=code)


def _of_server(error: BaseException) -> tuple[str, str] | None:
    state = getattr(error.__cause__, "sqlstate", None)
    if state is None:  # it was never asked: the connection is lost
        is_lost = isinstance(error, OperationalError | InterfaceError)
        return AWAY if is_lost else None
    return next((told for begins, told in _STATES.items() if state.startswith(begins)), None)


def storage_limits() -> list[str]:
    """What a write would meet, as codes. Looks at the home alone, and asks no database."""
    home = settings.CREW_HOME
    found = []
    if not os.access(home, os.W_OK):
        found.append("read_only")
    try:
        if shutil.disk_usage(home).free < DISK_LEAST_BYTES:
            found.append("disk_full")
    except OSError:
        found.append("read_only")
    return list(dict.fromkeys(found))

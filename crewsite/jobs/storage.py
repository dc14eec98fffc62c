"""Whether rows can be written at all just now: what the database says of its disk and its files, in words. A
write that failed so changed nothing."""

from __future__ import annotations

import os
import shutil
from typing import Final

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from crewsite.jobs.errors import MaintenanceInProgress, StoreUnavailable

# Below this a write-ahead log of a busy hour no longer fits.
DISK_LEAST_BYTES: Final = 32 * 1024 * 1024

DISK_FULL: Final = "The disk is full. Nothing was changed; make room and try again."
READ_ONLY: Final = "The database may only be read: its file or its folder is write-protected."
BUSY: Final = "Another program holds the database. Nothing was changed; try again in a moment."
AWAY: Final = "The database does not answer. Nothing was changed; try again in a moment."
# What SQLite and PostgreSQL say, in small letters.
_SAID: Final[dict[str, tuple[str, str]]] = {
    "database or disk is full": ("disk_full", DISK_FULL),
    "no space left on device": ("disk_full", DISK_FULL),
    "readonly database": ("read_only", READ_ONLY),
    "read-only transaction": ("read_only", READ_ONLY),
    "database is locked": ("database_busy", BUSY),
    "database table is locked": ("database_busy", BUSY),
    "unable to open database file": ("database_unavailable", AWAY),
    "disk i/o error": ("database_unavailable", AWAY),
}


def store_refusal(error: BaseException) -> MaintenanceInProgress | StoreUnavailable | None:
    """Why nothing can be written now; None for an error that is no such thing, but a fault of ours."""
    if isinstance(error, MaintenanceInProgress):
        return error
    if not isinstance(error, OperationalError | InterfaceError):
        return None
    said = str(error).lower()
    for words, (code, text) in _SAID.items():
        if words in said:
            return StoreUnavailable(text, code=code)
    # SQLite's other errors of this class are wrong statements; a server's are lost connections.
    return None if connection.vendor == "sqlite" else StoreUnavailable(AWAY, code="database_unavailable")


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

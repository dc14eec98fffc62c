"""What every process notices about the store within a second: that it is under maintenance, or was replaced.

One wrapper around every statement of the database connection, so that no door and no worker can forget it: a
write is refused while somebody else holds the `maintenance` lease, caches go when the generation changes.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.module_loading import import_string

from crewsite.jobs.constants import MAINTENANCE, MAINTENANCE_GRACE_SECONDS, STORE_LOOK_SECONDS
from crewsite.jobs.errors import MaintenanceInProgress
from crewsite.jobs.models import StoreState

logger = logging.getLogger(__name__)

# What keeps the site's processes in order; none of it is what people store. Logging out must work, and
# counting failed log-ins too.
BOOKKEEPING: Final = frozenset(
    {
        "jobs_lease",
        "jobs_heartbeat",
        "jobs_storestate",
        "django_session",
        "axes_accessattempt",
        "axes_accessattemptexpiration",
        "axes_accessfailurelog",
        "axes_accesslog",
        "django_q_ormq",
        "django_q_schedule",
        "django_q_task",
    }
)
# Running jobs report and end, and people cancel; a new job is a write like any other. A live setting that is
# read for the first time stores its default; changing it is an update.
ALLOWED: Final = frozenset({("UPDATE", "jobs_job"), ("INSERT", "constance_constance")})

_WRITE: Final = re.compile(
    r"\s*(INSERT|REPLACE|UPDATE|DELETE|TRUNCATE|CREATE|ALTER|DROP)\b"
    r"(?:\s+OR\s+\w+)?(?:\s+(?:INTO|FROM|TABLE))?\s+\"?(\w+)",
    re.IGNORECASE,
)
_WRITE_INSIDE: Final = re.compile(
    r"\b(?:INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\"?\w+\"?\s+SET)\b", re.IGNORECASE
)

_GENERATION_SQL: Final = "SELECT generation FROM jobs_storestate WHERE id = 1"
_LEASE_SQL: Final = (
    f"SELECT owner, code, note, acquired_at, expires_at FROM jobs_lease WHERE name = '{MAINTENANCE}'"  # noqa: S608 - a constant
)

Right = Literal["", "holder", "running"]
_right: ContextVar[Right] = ContextVar("store_right", default="")


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Who keeps writers out, since when, and until when at the latest."""

    owner: str
    code: str
    note: str
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Seen:
    """What this process last read, and the `time.monotonic()` at which it reads again."""

    again_at: float = 0.0
    generation: int | None = None
    maintenance: Maintenance | None = None


_seen = Seen()
_swap = threading.Lock()


def watch(execute: Callable[..., Any], sql: str, params: Any, many: Any, context: Any) -> Any:
    """Django's `execute_wrapper` of every connection. Costs a comparison, and two small reads a second."""
    seen = _seen if time.monotonic() < _seen.again_at else _look(context["connection"])
    if seen.maintenance is not None:
        _refuse_write(seen.maintenance, sql)
    return execute(sql, params, many, context)


def watch_connection(*, connection: Any, **_: Any) -> None:
    """Django's `connection_created`: also sent when a connection was lost and made again."""
    if watch not in connection.execute_wrappers:
        connection.execute_wrappers.append(watch)


def maintenance_now() -> Maintenance | None:
    """Who keeps writers out, at most a second old."""
    from django.db import connection

    if time.monotonic() >= _seen.again_at:
        connection.ensure_connection()
        _look(connection)
    found = _seen.maintenance
    return found if found is not None and found.until > timezone.now() else None


def look_again() -> None:
    """Forget what was seen, so that this process sees its own change at once."""
    global _seen  # noqa: PLW0603
    _seen = Seen(0.0, _seen.generation, None)


@contextmanager
def right(kind: Right) -> Iterator[None]:
    """`holder`: writes of this block pass. `running`: they pass while work in progress gets its time."""
    token = _right.set(kind)
    try:
        yield
    finally:
        _right.reset(token)


def running_work() -> Any:
    """Around a job or a turn that has begun: under maintenance it gets a moment to come to its end."""
    return right(_right.get() or "running")


def refuse_under_maintenance() -> None:
    """For what begins work without a write of its own."""
    found = maintenance_now()
    if found is not None and not _passes(found):
        raise MaintenanceInProgress(code=found.code, note=found.note, until=found.until)


def generation_bump() -> int:
    """Tell every process to drop its caches. A restore calls it in the transaction that replaces the rows.

    A clock value, never a count: rows that came back from an older copy must not meet a number seen before.
    """
    with transaction.atomic():
        row, _ = StoreState.objects.select_for_update().get_or_create(pk=1)
        row.generation = max(row.generation + 1, time.time_ns() // 1_000_000)
        row.save(update_fields=["generation"])
    return row.generation


def caches_drop() -> None:
    """Call what apps registered in `CREW_CACHES`."""
    for path in settings.CREW_CACHES:
        try:
            import_string(path)()
        except Exception:
            logger.exception("The cache behind %s could not be dropped.", path)


def _refuse_write(found: Maintenance, sql: str) -> None:
    if found.until <= timezone.now() or _passes(found):
        return
    write = _WRITE.match(sql)
    if write is None:
        if not sql.lstrip()[:4].upper().startswith("WITH") or not _WRITE_INSIDE.search(sql):
            return
    elif write[2] in BOOKKEEPING or (write[1].upper(), write[2]) in ALLOWED:
        return
    raise MaintenanceInProgress(code=found.code, note=found.note, until=found.until)


def _passes(found: Maintenance) -> bool:
    match _right.get():
        case "holder":
            return True
        case "running":
            return timezone.now() < found.since + timedelta(seconds=MAINTENANCE_GRACE_SECONDS)
        case _:
            return False


def _look(connection: Any) -> Seen:
    """Read the two rows past the ORM: inside a statement, it must not count as one of the caller's."""
    global _seen  # noqa: PLW0603
    if connection.needs_rollback:
        return _seen
    found = _read(connection)
    with _swap:  # of two threads that look at once, one drops
        before = _seen.generation
        # What cannot be read has not changed: a restore may be replacing these tables.
        generation, maintenance = found or (before, _seen.maintenance)
        _seen = Seen(time.monotonic() + STORE_LOOK_SECONDS, generation, maintenance)
    if before is not None and generation != before:
        # In a thread: whoever runs this statement may hold the lock of a cache.
        threading.Thread(target=caches_drop, name="caches-drop", daemon=True).start()
    return _seen


def _read(connection: Any) -> tuple[int, Maintenance | None] | None:
    """(generation, maintenance); None where the tables cannot be read, as before they exist."""
    # On PostgreSQL a failed statement would spoil the caller's transaction.
    is_guarded = connection.vendor == "postgresql" and connection.in_atomic_block
    cursor = connection.connection.cursor()
    try:
        if is_guarded:
            cursor.execute("SAVEPOINT store_look")
        cursor.execute(_GENERATION_SQL)
        number = cursor.fetchone()
        cursor.execute(_LEASE_SQL)
        lease = cursor.fetchone()
        if is_guarded:
            cursor.execute("RELEASE SAVEPOINT store_look")
    except connection.Database.Error:
        if is_guarded:
            cursor.execute("ROLLBACK TO SAVEPOINT store_look")
            cursor.execute("RELEASE SAVEPOINT store_look")
        return None
    finally:
        cursor.close()
    found = None
    if lease is not None:
        owner, code, note, since, until = lease
        found = Maintenance(owner, code, note, _moment(since), _moment(until))
    return (int(number[0]) if number else 0), found


def _moment(value: Any) -> datetime:
    moment = parse_datetime(value) if isinstance(value, str) else value
    assert isinstance(moment, datetime)  # noqa: S101 - the column holds nothing else
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

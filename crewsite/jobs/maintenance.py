"""Taking the site out of writers' hands for a while: the exclusive `maintenance` lease. What honours it is
`store`'s."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from crewsite.jobs import store
from crewsite.jobs.beats import renewing
from crewsite.jobs.constants import (
    MAINTENANCE,
    MAINTENANCE_GRACE_SECONDS,
    MAINTENANCE_POLL_SECONDS,
    MAINTENANCE_SECONDS,
    STORE_LOOK_SECONDS,
)
from crewsite.jobs.errors import MaintenanceRefused
from crewsite.jobs.leases import lease_acquire, lease_release

if TYPE_CHECKING:
    from crewsite.jobs.models import Lease


def maintenance_begin(
    *,
    note: str,
    code: str = MAINTENANCE,
    seconds: float = MAINTENANCE_SECONDS,
    force: bool = False,
) -> Lease:
    """Refuse writes everywhere, give running jobs and turns a moment to end, and return when all know.

    `note` is a sentence for people. Raises MaintenanceRefused, with everything as before, when somebody holds
    the lease, or when work still runs after its time. With `force` nobody waits for it.
    """
    lease = lease_acquire(MAINTENANCE, seconds=seconds, code=code, note=note)
    if lease is None:
        raise MaintenanceRefused("The site is under maintenance already.")
    store.look_again()
    try:
        # Other processes look once a second; only then has each of them seen the lease.
        time.sleep(STORE_LOOK_SECONDS)
        running = 0 if force else _wait_for_work(MAINTENANCE_GRACE_SECONDS)
    except BaseException:
        maintenance_abandon(lease)
        raise
    if running:
        maintenance_abandon(lease)
        raise MaintenanceRefused(f"{running} jobs or chat turns are still running. Cancel them, or force it.")
    return lease


def maintenance_end(lease: Lease) -> bool:
    """Let writers in again and make every process drop its caches; False if the lease had run out."""
    with transaction.atomic():
        held = lease_release(lease)
        store.generation_bump()
    transaction.on_commit(store.look_again)
    return held


def maintenance_abandon(lease: Lease) -> None:
    """Let writers in again after nothing was changed."""
    lease_release(lease)
    store.look_again()


@contextmanager
def maintenance(*, note: str, code: str = MAINTENANCE, force: bool = False) -> Iterator[Lease]:
    """The same around a block, whose own writes pass, however long it takes: a restore, a model switch."""
    lease = maintenance_begin(note=note, code=code, force=force)
    try:
        with (
            store.right("holder"),
            renewing(lease, seconds=MAINTENANCE_SECONDS, every=MAINTENANCE_SECONDS / 6),
        ):
            yield lease
    finally:
        maintenance_end(lease)


def work_running() -> int:
    """Jobs and turns under way, by the functions of `CREW_RUNNING_WORK`."""
    return sum(int(import_string(path)()) for path in settings.CREW_RUNNING_WORK)


def _wait_for_work(seconds: float) -> int:
    deadline = time.monotonic() + seconds
    while (running := work_running()) and time.monotonic() < deadline:
        time.sleep(MAINTENANCE_POLL_SECONDS)
    return running

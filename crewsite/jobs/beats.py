"""Signs of life: a thread beside a running job or a held lease, so that a slow step counts as no death."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from functools import partial

from django.db import close_old_connections, connection
from django.utils import timezone

from crewsite.jobs.constants import JOB_BEAT_SECONDS, JOB_LEASE_SECONDS
from crewsite.jobs.leases import lease_renew
from crewsite.jobs.models import Job, Lease

logger = logging.getLogger(__name__)


def beating(job: Job, *, every: float = JOB_BEAT_SECONDS) -> AbstractContextManager[None]:
    """Renews the job's claim while the block runs."""
    return _beside(f"job {job.pk}", partial(_job_renew, job.pk, job.lease_owner), every)


def renewing(lease: Lease, *, seconds: float, every: float) -> AbstractContextManager[None]:
    """Extends the lease while the block runs. Who lost it meanwhile learns that from `lease_renew`."""
    return _beside(f"lease {lease.name}", partial(lease_renew, lease, seconds=seconds), every)


@contextmanager
def _beside(name: str, renew: Callable[[], bool], every: float) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(name, renew, stop, every), name=f"beat {name}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()


def _beat(name: str, renew: Callable[[], bool], stop: threading.Event, every: float) -> None:
    is_held = True
    while is_held and not stop.wait(every):
        try:
            close_old_connections()
            is_held = renew()
        except Exception:
            logger.exception("The sign of life of %s could not be written; trying again.", name)
        finally:
            connection.close()


def _job_renew(job_id: int, owner: str) -> bool:
    now = timezone.now()
    return bool(
        Job.objects.filter(pk=job_id, state=Job.State.RUNNING, lease_owner=owner).update(
            heartbeat_at=now, lease_expires_at=now + timedelta(seconds=JOB_LEASE_SECONDS)
        )
    )

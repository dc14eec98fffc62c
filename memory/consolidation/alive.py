"""Showing that a pass lives while it waits for the model, which may think for minutes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import connection

from crewsite.jobs.leases import lease_renew
from crewsite.jobs.services import JobStopped, job_progress
from memory.consolidation.constants import LEASE_SECONDS, RENEW_SECONDS

if TYPE_CHECKING:
    from crewsite.jobs.models import Job, Lease

logger = logging.getLogger(__name__)


@contextmanager
def kept_alive(lease: Lease, job: Job | None, *, seconds: float = RENEW_SECONDS) -> Iterator[None]:
    """Renews the lease and the job from a thread, as long as the block runs. A process that dies stops
    renewing, and another may take over when the lease has expired."""
    stop = threading.Event()
    thread = threading.Thread(target=_renew, args=(lease, job, stop, seconds), name="pass-alive", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _renew(lease: Lease, job: Job | None, stop: threading.Event, seconds: float) -> None:
    while not stop.wait(seconds):
        try:
            lease_renew(lease, seconds=LEASE_SECONDS)
            if job is not None:
                job_progress(job)
        except JobStopped:
            return  # the pass notices at its own next report
        except Exception:
            logger.exception("A running pass could not renew its lease.")
        finally:
            connection.close()

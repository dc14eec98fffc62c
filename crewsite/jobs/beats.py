"""The sign of life of a running job: a thread beside it, so that a slow step is not taken for a death."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import close_old_connections, connection
from django.utils import timezone

from crewsite.jobs.constants import JOB_BEAT_SECONDS, JOB_LEASE_SECONDS
from crewsite.jobs.models import Job

logger = logging.getLogger(__name__)


@contextmanager
def beating(job: Job, *, seconds: float = JOB_BEAT_SECONDS) -> Iterator[None]:
    """Renews the job's claim while the block runs."""
    stop = threading.Event()
    thread = threading.Thread(
        target=_beat, args=(job.pk, job.lease_owner, stop, seconds), name=f"job-{job.pk}-beat", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()


def _beat(job_id: int, owner: str, stop: threading.Event, seconds: float) -> None:
    while not stop.wait(seconds):
        try:
            close_old_connections()
            now = timezone.now()
            Job.objects.filter(pk=job_id, state=Job.State.RUNNING, lease_owner=owner).update(
                heartbeat_at=now, lease_expires_at=now + timedelta(seconds=JOB_LEASE_SECONDS)
            )
        except Exception:
            logger.exception("Job #%s could not write its sign of life; trying again.", job_id)
        finally:
            connection.close()

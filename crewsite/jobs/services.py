"""Writes on job rows: begin, report, end, cancel, retry, give up. How tasks are queued belongs to `queue`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F
from django.utils import timezone

from crewsite.jobs.constants import (
    ERROR_MAX_CHARS,
    JOB_KEEP_DAYS,
    JOB_LEASE_SECONDS,
    JOB_QUEUED_HOURS,
    MESSAGE_MAX_CHARS,
)
from crewsite.jobs.leases import process_owner
from crewsite.jobs.models import Heartbeat, Job
from crewsite.jobs.queue import enqueue

logger = logging.getLogger(__name__)

JOB_EXECUTE = "crewsite.jobs.tasks.job_execute"

# The queued job that `job_execute` runs in this thread: the `job_run` inside the task reports on that row.
_executing: ContextVar[Job | None] = ContextVar("executing", default=None)


class JobStopped(Exception):
    """The job is no longer this process's to run: a person cancelled it, or it was given up as dead."""


def job_start(
    *,
    kind: str,
    task: str = "",
    args: Sequence[Any] = (),
    total: int | None = None,
    detail: dict[str, Any] | None = None,
) -> Job:
    """A running job of this process. `task` and `args` (JSON values) are what a retry queues again."""
    now = timezone.now()
    return Job.objects.create(
        kind=kind,
        task=task,
        args=list(args),
        total=total,
        detail=detail or {},
        state=Job.State.RUNNING,
        started_at=now,
        **_lease(now),
    )


def job_queue(
    *,
    kind: str,
    task: str,
    args: Sequence[Any] = (),
    total: int | None = None,
    detail: dict[str, Any] | None = None,
) -> Job:
    """A queued job that a worker runs as `task(*args)` unless it is cancelled before."""
    job = Job.objects.create(kind=kind, task=task, args=list(args), total=total, detail=detail or {})
    enqueue(JOB_EXECUTE, job.pk)
    return job


@contextmanager
def job_run(
    kind: str,
    *,
    task: str = "",
    args: Sequence[Any] = (),
    total: int | None = None,
    detail: dict[str, Any] | None = None,
) -> Iterator[Job]:
    """A job around a block: done when the block ends, failed with the reason when it raises.

    A block that `job_progress` stopped ends quietly. Inside a queued job of the same kind this is that row.
    """
    job = _executing.get()
    if job is not None and job.kind == kind:
        yield job
        return
    job = job_start(kind=kind, task=task, args=args, total=total, detail=detail)
    with _ending(job):
        yield job


@contextmanager
def job_resumed(job_id: int) -> Iterator[Job | None]:
    """The same around a job that was queued; None if it was cancelled, or another worker has begun it."""
    now = timezone.now()
    begun = Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(
        state=Job.State.RUNNING, started_at=now, **_lease(now)
    )
    if not begun:
        yield None
        return
    job = Job.objects.get(pk=job_id)
    token = _executing.set(job)
    try:
        with _ending(job):
            yield job
    finally:
        _executing.reset(token)


@contextmanager
def _ending(job: Job) -> Iterator[None]:
    try:
        yield
    except JobStopped:
        logger.info("%s #%s stopped.", job.kind, job.pk)
    except BaseException:
        job_fail(job, error=_reason(sys.exc_info()[1]))
        raise
    else:
        job_finish(job)


def job_progress(
    job: Job,
    *,
    done: int | None = None,
    total: int | None = None,
    message: str | None = None,
    detail: dict[str, Any] | None = None,
) -> None:
    """Report, and show that the worker lives. Call it between steps, at least every few minutes.

    Raises JobStopped when the job was cancelled or given up: leave the work as it is and return.
    """
    now = timezone.now()
    changes: dict[str, Any] = {"heartbeat_at": now, "lease_expires_at": _lease(now)["lease_expires_at"]}
    given = {"done": done, "total": total, "detail": detail}
    changes |= {name: value for name, value in given.items() if value is not None}
    if message is not None:
        changes["message"] = message[:MESSAGE_MAX_CHARS]
    if not _owned(job).update(**changes):
        raise JobStopped(str(job))
    for name, value in changes.items():
        setattr(job, name, value)


def job_finish(job: Job, *, message: str | None = None) -> bool:
    """Mark the job done; False if it was cancelled or given up before."""
    changes = {} if message is None else {"message": message[:MESSAGE_MAX_CHARS]}
    return _end(job, Job.State.DONE, **changes)


def job_fail(job: Job, *, error: str) -> bool:
    """Mark the job failed with its reason; False if it was cancelled or given up before."""
    return _end(job, Job.State.FAILED, error=error[:ERROR_MAX_CHARS])


def job_cancel(job: Job) -> bool:
    """Cancel a queued or running job; its worker stops at its next report. False if it has ended already."""
    return bool(
        Job.objects.active()
        .filter(pk=job.pk)
        .update(state=Job.State.CANCELLED, finished_at=timezone.now(), lease_expires_at=None)
    )


def job_retry(job: Job) -> Job | None:
    """Queue a failed or cancelled job again as a new row; None if it runs, is done, or names no task."""
    if job.state not in {Job.State.FAILED, Job.State.CANCELLED} or not job.task:
        return None
    return job_queue(kind=job.kind, task=job.task, args=job.args, detail={"retry_of": job.pk})


def jobs_give_up(*, now: datetime | None = None) -> int:
    """Fail the jobs whose worker died, and queued jobs that no worker began within a day."""
    now = now or timezone.now()
    dead = Job.objects.filter(state=Job.State.RUNNING, lease_expires_at__lte=now).update(
        state=Job.State.FAILED,
        finished_at=now,
        error=f"The worker showed no life for {JOB_LEASE_SECONDS // 60} minutes. Retry to run it again.",
    )
    lost = Job.objects.filter(
        state=Job.State.QUEUED, created_at__lte=now - timedelta(hours=JOB_QUEUED_HOURS)
    ).update(
        state=Job.State.FAILED,
        finished_at=now,
        error=f"Not begun within {JOB_QUEUED_HOURS} hours. Does the worker run? Retry to run it again.",
    )
    return dead + lost


def jobs_forget(*, now: datetime | None = None) -> int:
    """Delete jobs that ended a month ago."""
    before = (now or timezone.now()) - timedelta(days=JOB_KEEP_DAYS)
    return Job.objects.filter(finished_at__lt=before).delete()[0]


def heartbeat_put(*, name: str, detail: dict[str, Any] | None = None, now: datetime | None = None) -> None:
    """Note that a kind of process lives."""
    Heartbeat.objects.update_or_create(
        name=name, defaults={"at": now or timezone.now(), "detail": detail or {}}
    )


def _lease(now: datetime) -> dict[str, Any]:
    return {
        "lease_owner": process_owner(),
        "heartbeat_at": now,
        "lease_expires_at": now + timedelta(seconds=JOB_LEASE_SECONDS),
    }


def _owned(job: Job) -> Any:
    return Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, lease_owner=job.lease_owner)


def _end(job: Job, state: Job.State, **changes: Any) -> bool:
    now = timezone.now()
    if state == Job.State.DONE and job.total is not None:
        changes["done"] = F("total")
    if not _owned(job).update(
        state=state, finished_at=now, heartbeat_at=now, lease_expires_at=None, **changes
    ):
        return False
    job.refresh_from_db()
    return True


def _reason(exc: BaseException | None) -> str:
    text = str(exc).strip()
    name = type(exc).__name__
    return f"{name}: {text}" if text else name

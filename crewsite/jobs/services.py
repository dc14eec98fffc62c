"""Writes on job rows: begin, report, end, cancel, retry, give up. How tasks are queued belongs to `queue`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from crewsite.jobs.beats import beating
from crewsite.jobs.constants import (
    ERROR_MAX_CHARS,
    JOB_KEEP_DAYS,
    JOB_LEASE_SECONDS,
    JOB_QUEUED_HOURS,
    MESSAGE_MAX_CHARS,
)
from crewsite.jobs.leases import process_owner
from crewsite.jobs.models import Heartbeat, Job, Lease
from crewsite.jobs.queue import enqueue
from crewsite.jobs.store import refuse_under_maintenance, running_work
from crewsite.security.redaction import redact

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
    workspace_id: int | None = None,
) -> Job:
    """A running job of this process. `task` and `args` (JSON values) are what a retry queues again.

    Members of the workspace see the job; without one only operators do.
    """
    now = timezone.now()
    return Job.objects.create(
        kind=kind,
        task=task,
        args=list(args),
        total=total,
        detail=detail or {},
        workspace_id=workspace_id,
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
    workspace_id: int | None = None,
    retry_of: Job | None = None,
) -> Job:
    """A queued job that a worker runs as `task(*args)` unless it is cancelled before."""
    job = Job.objects.create(
        kind=kind,
        task=task,
        args=list(args),
        total=total,
        detail=detail or {},
        workspace_id=workspace_id,
        retry_of=retry_of,
    )
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
    workspace_id: int | None = None,
) -> Iterator[Job]:
    """A job around a block: done when the block ends, failed with the reason when it raises.

    A block that `job_progress` stopped ends quietly. Inside a queued job of the same kind this is that row.
    """
    job = _executing.get()
    if job is not None and job.kind == kind:
        job_progress(job, total=total, detail=detail)
        yield job
        return
    job = job_start(kind=kind, task=task, args=args, total=total, detail=detail, workspace_id=workspace_id)
    with _ending(job):
        yield job


@contextmanager
def job_resumed(job_id: int) -> Iterator[Job | None]:
    """The same around a job that was queued; None if it was cancelled, or another worker has begun it.

    Raises MaintenanceInProgress and leaves the job queued when nothing may begin.
    """
    refuse_under_maintenance()
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
        with beating(job), running_work():
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
    """Report between steps; this is where a cancelled job notices it.

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
    return _end(job, Job.State.FAILED, error=redact(error).text[:ERROR_MAX_CHARS])


def job_cancel(job: Job) -> bool:
    """Cancel a queued or running job; its worker stops at its next report. False if it has ended already."""
    return bool(
        Job.objects.active()
        .filter(pk=job.pk)
        .update(state=Job.State.CANCELLED, finished_at=timezone.now(), lease_expires_at=None)
    )


def job_retry(job: Job) -> Job | None:
    """Queue a failed or cancelled job again as a new row; None if it runs, is done, names no task, or was
    retried already. An ended state never changes, so two callers meet at the unique `retry_of` only.
    """
    job.refresh_from_db(fields=["state"])
    if not job.is_retryable:
        return None
    try:
        with transaction.atomic():
            return job_queue(
                kind=job.kind,
                task=job.task,
                args=job.args,
                workspace_id=job.workspace_id,
                retry_of=job,
            )
    except IntegrityError:
        return None


def jobs_give_up(*, now: datetime | None = None) -> int:
    """Fail the jobs whose process died, and queued jobs that no worker began within a day."""
    now = now or timezone.now()
    silent = Job.objects.filter(state=Job.State.RUNNING, lease_expires_at__lte=now)
    dead = sum(_give_up(job, now) for job in silent)
    lost = Job.objects.filter(
        state=Job.State.QUEUED, created_at__lte=now - timedelta(hours=JOB_QUEUED_HOURS)
    ).update(
        state=Job.State.FAILED,
        finished_at=now,
        error=f"Not begun within {JOB_QUEUED_HOURS} hours. Does the worker run? Retry to run it again.",
    )
    return dead + lost


def _give_up(job: Job, now: datetime) -> bool:
    heard = (job.heartbeat_at or job.created_at).strftime("%H:%M:%S UTC")
    with transaction.atomic():
        # A beat that came in between moved the expiry, and the job lives.
        given_up = Job.objects.filter(
            pk=job.pk, state=Job.State.RUNNING, lease_owner=job.lease_owner, lease_expires_at__lte=now
        ).update(
            state=Job.State.FAILED,
            finished_at=now,
            lease_expires_at=None,
            error=(
                f"Its process ({job.lease_owner}) showed no sign of life after {heard}; "
                "it was probably killed. "
                "Retry to run it again."
            ),
        )
        if given_up:
            # What it held would keep a retry waiting. Should it live after all, it learns of the loss when it
            # renews, since every acquisition has an owner text of its own.
            Lease.objects.filter(owner__startswith=f"{job.lease_owner}:").delete()
    return bool(given_up)


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

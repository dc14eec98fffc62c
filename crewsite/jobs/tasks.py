"""Tasks of the queue itself: the minute heartbeat, running queued jobs, and forgetting old ones."""

from __future__ import annotations

import logging

from django.conf import settings
from django.utils.module_loading import import_string

from crewsite.jobs import services
from crewsite.jobs.errors import MaintenanceInProgress
from crewsite.jobs.leases import leases_reap
from crewsite.jobs.models import Job
from crewsite.jobs.queue import enqueue

logger = logging.getLogger(__name__)


def heartbeat() -> dict[str, int]:
    """Every minute: say that schedules run, clear what dead workers left, run what other apps registered.

    Each step is a conditional update, so late and doubled ticks do no harm; one that fails stops no other.
    """
    services.heartbeat_put(name="schedule")
    counts = {"leases": leases_reap(), "jobs": services.jobs_give_up()}
    for path in settings.CREW_HEARTBEAT_TASKS:
        try:
            import_string(path)()
        except Exception:
            logger.exception("Heartbeat task %s failed.", path)
    return counts


def job_execute(job_id: int) -> None:
    """Run a queued job. Queued twice, or cancelled before it began, it does nothing."""
    try:
        with services.job_resumed(job_id) as job:
            if job is not None:
                result = import_string(job.task)(*job.args)
                if isinstance(result, dict) and result.get("skipped"):
                    services.job_finish(job, message=f"Skipped: {result['skipped']}.")
    except MaintenanceInProgress:
        # Claimed in the moment before the lease was seen: back to the end of the queue, unless it had begun.
        if Job.objects.filter(pk=job_id, state=Job.State.QUEUED).exists():
            enqueue(services.JOB_EXECUTE, job_id)


def jobs_prune() -> int:
    return services.jobs_forget()

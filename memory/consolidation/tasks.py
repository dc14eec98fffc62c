"""The task a worker runs for a queued pass. Takes ids; run twice it finds nothing left to do."""

from __future__ import annotations

from crewsite.jobs.services import job_progress, job_run
from memory.consolidation.passes import pass_run
from memory.consolidation.triggers import ASKED, DUE, JOB_KIND, TASK


class PassFailed(Exception):
    """A pass failed; its reason is on the receipt, and becomes the job's."""


def consolidate(conversation_id: str, path: str, how: str = DUE) -> str:
    """Run one pass. `how` is `asked` for a person's wish, and so is the retry of a failed job."""
    with job_run(JOB_KIND, task=TASK, args=[conversation_id, path, how]) as job:
        is_asked = how == ASKED or job.retry_of_id is not None
        outcome = pass_run(conversation_id=conversation_id, path=path, is_asked=is_asked, job=job)
        if not outcome.ok:
            raise PassFailed(outcome.message)
        job_progress(job, message=outcome.message)
        return outcome.state

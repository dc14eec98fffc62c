"""Installing the compact model as background work, with its step told in a job row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import transaction

from crewsite.jobs.models import Job
from crewsite.jobs.services import job_progress, job_queue, job_run

if TYPE_CHECKING:
    from pathlib import Path

KIND: Final = "model_install"
TASK: Final = "crewsite.embeddings.tasks.model_install"


def install_start() -> tuple[Job, bool]:
    """The job that installs the compact model, and whether it is new: one that waits or runs is adopted."""
    with transaction.atomic():
        active = Job.objects.of_kind(KIND).active().order_by("-id").first()
        return (active, False) if active else (job_queue(kind=KIND, task=TASK), True)


def install_last() -> Job | None:
    return Job.objects.of_kind(KIND).order_by("-id").first()


def model_install() -> str:
    """Done at once when the model is there. Raises InstallFailed, which fails the job with its reason."""
    from crewsite.embeddings.install import install_compact
    from crewsite.embeddings.service import start_loading

    with job_run(KIND, task=TASK) as job:

        def say(step: str) -> None:
            job_progress(job, message=step, detail={"step": step})

        path: Path = install_compact(say=say)
    start_loading()
    return str(path)

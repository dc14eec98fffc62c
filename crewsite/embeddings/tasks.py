"""Installing a model as background work, with its steps told in a job row."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.db import transaction

from crewsite.embeddings.models_catalog import CATALOG
from crewsite.jobs.models import Job
from crewsite.jobs.services import job_progress, job_queue, job_run

if TYPE_CHECKING:
    from pathlib import Path

    from crewsite.embeddings.models_catalog import ModelSpec

KIND: Final = "model_install"
TELL_EVERY_SECONDS: Final = 0.5
TASK: Final = "crewsite.embeddings.tasks.model_install"


def install_start(model: str = "", url: str = "") -> tuple[Job, bool]:
    """The job that installs a model, the compact one unless named, and whether it is new: one of the same
    model that waits or runs is adopted."""
    args = [model, url] if model else []
    with transaction.atomic():
        active = Job.objects.of_kind(KIND).active().order_by("-id")
        found = next((job for job in active if job.args[:1] == args[:1]), None)
        return (found, False) if found else (job_queue(kind=KIND, task=TASK, args=args), True)


def install_last() -> Job | None:
    return Job.objects.of_kind(KIND).order_by("-id").first()


def model_install(model: str = "", url: str = "") -> str:
    """Done at once when the model is there. Raises InstallFailed, which fails the job with its reason."""
    from crewsite.embeddings.install import install_compact
    from crewsite.embeddings.service import start_loading

    with job_run(KIND, task=TASK, args=[model, url] if model else []) as job:

        def say(step: str) -> None:
            job_progress(job, message=step, detail={"step": step})

        path: Path = _download(job, CATALOG[model], url) if model else install_compact(say=say)
    start_loading()
    return str(path)


def _download(job: Job, spec: ModelSpec, url: str) -> Path:
    from constance import config

    from crewsite.embeddings.download import Step, download_model

    told_at = 0.0

    def report(step: Step) -> None:
        nonlocal told_at
        now = time.monotonic()
        if step.state == "downloading" and now - told_at < TELL_EVERY_SECONDS:
            return
        told_at = now
        tried = f" (attempt {step.attempt})" if step.attempt > 1 else ""
        said = f"{step.state.replace('_', ' ')}{tried}{': ' if step.error else ''}{step.error}"
        job_progress(job, done=step.done, total=step.total, message=said, detail=asdict(step))

    address = url or settings.CREW_EMBED_MODEL_URL or str(config.EMBED_MODEL_URL).strip() or spec.url
    return download_model(spec, url=address, report=report)

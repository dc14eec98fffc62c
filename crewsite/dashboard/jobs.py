"""The jobs a person watches, as the page and the socket show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.template.loader import render_to_string

from crewsite.accounts.jobs import JobRights, job_rights, jobs_for
from crewsite.accounts.models import Workspace

if TYPE_CHECKING:
    from datetime import datetime

    from crewsite.accounts.models import ApiToken, User
    from crewsite.jobs.models import Job

LIVE_JOBS: Final = 50  # a page of them; what runs is always among them
# Fifty of them fit a frame even if every character is escaped; admin and the API have all of it.
ERROR_SHOWN_CHARS: Final = 1_000
PERCENT: Final = 100


@dataclass(frozen=True, slots=True)
class JobLine:
    """One job with what this person may do about it."""

    job: Job
    workspace: str
    can_cancel: bool
    can_retry: bool
    retried_as: int | None

    @property
    def percent(self) -> int | None:
        job = self.job
        return min(PERCENT, job.done * PERCENT // job.total) if job.total else None

    @property
    def error(self) -> str:
        text = self.job.error
        return text if len(text) <= ERROR_SHOWN_CHARS else f"{text[:ERROR_SHOWN_CHARS]}…"

    @property
    def error_head(self) -> str:
        return next(iter(self.job.error.splitlines()), "")

    def fields(self) -> dict[str, Any]:
        """What a frame says about it; equal fields mean that nothing changed."""
        job = self.job
        return {
            "id": job.pk,
            "kind": job.kind,
            "state": job.state,
            "done": job.done,
            "total": job.total,
            "message": job.message,
            "error": self.error,
            "workspace": self.workspace or None,
            "retry_of": job.retry_of_id,
            "retried_as": self.retried_as,
            "can_cancel": self.can_cancel,
            "can_retry": self.can_retry,
            "created_at": _iso(job.created_at),
            "started_at": _iso(job.started_at),
            "heartbeat_at": _iso(job.heartbeat_at),
            "finished_at": _iso(job.finished_at),
        }

    def html(self) -> str:
        return render_to_string("dashboard/_job.html", {"line": self})


def live_jobs(user: User, *, token: ApiToken | None = None) -> list[JobLine]:
    """What runs or waits, then the newest of the rest. Rights are read anew each time."""
    mine = jobs_for(user, token=token).with_retry()
    active = list(mine.active()[:LIVE_JOBS])
    ended = list(mine.exclude(state__in=["queued", "running"])[: LIVE_JOBS - len(active)])
    return _lines([*active, *ended], job_rights(user, token=token))


def jobs_page(user: User, *, before: int | None, kind: str, state: str) -> list[JobLine]:
    """The page of jobs before an id, newest first; an empty kind or state is any."""
    asked = {"pk__lt": before, "kind": kind, "state": state}
    mine = jobs_for(user).with_retry().filter(**{name: value for name, value in asked.items() if value})
    return _lines(list(mine[:LIVE_JOBS]), job_rights(user))


def job_kinds(user: User) -> list[str]:
    """Those of the jobs this person sees."""
    return sorted(set(jobs_for(user).order_by().values_list("kind", flat=True).distinct()))


def _lines(jobs: list[Job], rights: JobRights) -> list[JobLine]:
    names = dict(
        Workspace.objects.filter(pk__in={job.workspace_id for job in jobs}).values_list("pk", "slug")
    )
    return [_line(job, rights, names.get(job.workspace_id or 0, "")) for job in jobs]


def _line(job: Job, rights: JobRights, workspace: str) -> JobLine:
    retried_as: int | None = getattr(job, "retried_as", None)
    may = rights.may_act(job)
    return JobLine(
        job=job,
        workspace=workspace,
        can_cancel=may and job.is_active,
        can_retry=may and job.is_retryable and retried_as is None,
        retried_as=retried_as,
    )


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None

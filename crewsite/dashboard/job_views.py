"""The jobs page, and its two actions: plain forms that a script sends without leaving the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from crewsite.accounts.console import row_number
from crewsite.accounts.jobs import job_rights, jobs_for
from crewsite.dashboard.jobs import LIVE_JOBS, job_kinds, jobs_page, live_jobs
from crewsite.jobs import services
from crewsite.jobs.models import Job
from crewsite.jobs.selectors import worker_is_alive

if TYPE_CHECKING:
    from crewsite.accounts.models import User


@require_GET
@login_required
def jobs(request: HttpRequest) -> HttpResponse:
    user, before = cast("User", request.user), row_number(request.GET.get("before", ""))
    kinds, state = job_kinds(user), request.GET.get("state", "")
    kind = request.GET.get("kind", "")
    chosen = {
        "kind": kind if kind in kinds else "",
        "state": state if state in Job.State.values else "",
    }
    asked = {name: value for name, value in chosen.items() if value}
    is_live = before is None and not asked
    lines = live_jobs(user) if is_live else jobs_page(user, before=before, **chosen)
    last = lines[-1].job.pk if len(lines) >= LIVE_JOBS else 0
    context = {
        "lines": lines,
        "is_live": is_live,
        "is_older": before is not None,
        "older": last,
        "kinds": kinds,
        "states": Job.State.values,
        "chosen": chosen,
        "asked": urlencode(asked),
        "worker_is_alive": worker_is_alive(),
    }
    return render(request, "dashboard/jobs.html", context)


@require_POST
@login_required
def job_cancel(request: HttpRequest, job_id: int) -> HttpResponse:
    done = services.job_cancel(_actable(request, job_id))
    return _answer(request, done, "The job is cancelled." if done else "The job had ended already.")


@require_POST
@login_required
def job_retry(request: HttpRequest, job_id: int) -> HttpResponse:
    again = services.job_retry(_actable(request, job_id))
    told = (
        f"Queued again as job {again.pk}." if again else "This job cannot be retried, or was retried before."
    )
    return _answer(request, again is not None, told)


def _actable(request: HttpRequest, job_id: int) -> Job:
    user = cast("User", request.user)
    job = jobs_for(user).filter(pk=job_id).first()
    if job is None:
        raise Http404
    if not job_rights(user).may_act(job):
        raise PermissionDenied
    return job


def _answer(request: HttpRequest, done: bool, told: str) -> HttpResponse:  # noqa: FBT001
    if "X-Fragment" in request.headers:
        return JsonResponse({"message": told}, status=200 if done else 409)
    messages.add_message(request, messages.SUCCESS if done else messages.WARNING, told)
    return redirect("dashboard:jobs")

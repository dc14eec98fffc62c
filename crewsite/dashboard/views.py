"""Home, status and context preview. Each view reads through one selector and renders."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from crewsite.accounts.models import Workspace
from crewsite.dashboard.forms import PreviewForm
from crewsite.dashboard.health import site_health
from crewsite.dashboard.preview import preview_packet
from crewsite.dashboard.selectors import learned_lately
from crewsite.dashboard.workspaces import SESSION_KEY, current_workspace, my_workspaces
from crewsite.security.text import clean

if TYPE_CHECKING:
    from typing import Any

    from crewsite.accounts.models import User


def _frame(request: HttpRequest) -> dict[str, Any]:
    mine = my_workspaces(request)
    return {"workspaces": mine, "workspace": current_workspace(request, mine)}


@require_GET
@login_required
def home(request: HttpRequest) -> HttpResponse:
    context = _frame(request)
    if context["workspace"] is None:
        return render(request, "dashboard/no_workspace.html", context)
    context.update(learned=learned_lately(context["workspace"].home), health=site_health())
    return render(request, "dashboard/home.html", context)


@require_GET
@login_required
def status(request: HttpRequest) -> HttpResponse:
    template = "dashboard/_status.html" if request.headers.get("HX-Request") else "dashboard/status.html"
    return render(request, template, {"health": site_health()})


@require_GET
@login_required
def context_preview(request: HttpRequest) -> HttpResponse:
    context = _frame(request)
    if context["workspace"] is None:
        return render(request, "dashboard/no_workspace.html", context)
    form = PreviewForm(request.GET or None, user=cast("User", request.user), workspace=context["workspace"])
    context["form"] = form
    if form.is_bound and form.is_valid():
        context["packet"] = preview_packet(
            user=cast("User", request.user),
            workspace=context["workspace"],
            text=form.cleaned_data["q"],
            window=form.cleaned_data["window"],
            conversation=form.cleaned_data["conversation"],
        )
    return render(request, "dashboard/context.html", context)


@require_POST
@login_required
def workspace_switch(request: HttpRequest) -> HttpResponse:
    slug = clean(request.POST.get("workspace", ""))
    if not Workspace.objects.for_user(request.user).filter(slug=slug).exists():
        raise Http404
    request.session[SESSION_KEY] = slug
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = reverse("dashboard:home")
    return HttpResponseRedirect(target)

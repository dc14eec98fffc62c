"""Status, context preview and the choice of the workspace. Each view reads through one selector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from crewsite.accounts.models import Workspace
from crewsite.dashboard.forms import PreviewForm
from crewsite.dashboard.full_model import full_model_offer
from crewsite.dashboard.health import site_health
from crewsite.dashboard.place import in_place, is_fragment, page
from crewsite.dashboard.preview import preview_packet
from crewsite.dashboard.workspaces import SESSION_KEY
from crewsite.security.text import clean

if TYPE_CHECKING:
    from crewsite.dashboard.place import Place


@require_GET
@login_required
def status(request: HttpRequest) -> HttpResponse:
    template = "dashboard/_status.html" if is_fragment(request) else "dashboard/status.html"
    offer = full_model_offer() if request.user.is_superuser else ""
    return render(request, template, {"health": site_health(), "full_model": offer})


@require_GET
@in_place
def context_preview(request: HttpRequest, place: Place) -> HttpResponse:
    form = PreviewForm(request.GET or None, user=place.user, workspace=place.workspace)
    context: dict[str, Any] = {"form": form}
    if form.is_bound and form.is_valid():
        context["packet"] = preview_packet(
            user=place.user,
            workspace=place.workspace,
            text=form.cleaned_data["q"],
            window=form.cleaned_data["window"],
            conversation=form.cleaned_data["conversation"],
        )
    return page(request, place, "dashboard/context.html", context)


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

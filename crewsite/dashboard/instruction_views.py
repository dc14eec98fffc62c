"""The page of a workspace's standing instructions: read by its members, written by its owners."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from crewsite.accounts.instructions import instructions_write
from crewsite.accounts.models import Role, Workspace
from crewsite.dashboard.forms import InstructionsForm
from crewsite.dashboard.workspaces import current_workspace, my_workspaces
from crewsite.security.origin import Origin, Source, Surface

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from crewsite.accounts.models import User


@require_http_methods(["GET", "POST"])
@login_required
def instructions(request: HttpRequest) -> HttpResponse:
    mine = my_workspaces(request)
    workspace = current_workspace(request, mine)
    if workspace is None:
        return render(request, "dashboard/no_workspace.html", {"workspaces": mine, "workspace": None})
    owned = Workspace.objects.for_user(request.user, at_least=Role.OWNER)
    may_write = owned.filter(pk=workspace.pk).exists()
    if request.method == "POST":
        if not may_write:
            raise PermissionDenied
        # Named by the page, since another tab may have switched the workspace meanwhile.
        form = InstructionsForm(request.POST, workspaces=owned)
        if form.is_valid():
            actor = cast("User", request.user).get_username()
            changed = instructions_write(
                workspace=form.cleaned_data["workspace"],
                steering=form.cleaned_data["steering"],
                agent_prompt=form.cleaned_data["agent_prompt"],
                origin=Origin(source=Source.USER_EXPLICIT, surface=Surface.WEB, actor=actor),
            )
            said = "Saved. It holds from the next message on." if changed else "Nothing was changed."
            messages.success(request, said)
            return redirect("dashboard:instructions")
    else:
        form = InstructionsForm(
            initial={"steering": workspace.steering, "agent_prompt": workspace.agent_prompt}, workspaces=owned
        )
    context = {"workspaces": mine, "workspace": workspace, "form": form, "may_write": may_write}
    return render(request, "dashboard/instructions.html", context)

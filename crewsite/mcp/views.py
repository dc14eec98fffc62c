"""The Connect page: a token made on a click and shown once, what to paste where, and the light."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from crewsite.accounts.constants import TOKEN_DAYS_DEFAULT
from crewsite.accounts.errors import TokenRefused
from crewsite.accounts.models import DEFAULT_SLUG, ApiToken
from crewsite.accounts.services import token_create, token_revoke
from crewsite.dashboard.workspaces import current_workspace, my_workspaces
from crewsite.mcp.constants import HTTP_PATH, LIGHT_POLL_S
from crewsite.mcp.forms import TokenForm
from crewsite.mcp.selectors import calls_lately, free_token_name, light_of, tokens_of
from crewsite.mcp.snippets import PLACEHOLDER, Program, http_snippets, stdio_snippets
from crewsite.security.text import clean

if TYPE_CHECKING:
    from django.http import HttpRequest

    from crewsite.accounts.models import User, Workspace

TOKEN_NAME = "Coding agent"  # noqa: S105 - a name, no secret


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def connect(request: HttpRequest) -> HttpResponse:
    user = cast("User", request.user)
    mine = my_workspaces(request)
    workspace = current_workspace(request, mine)
    if workspace is None:
        return render(request, "dashboard/no_workspace.html")
    form = TokenForm(request.POST or None, initial={"name": TOKEN_NAME, "access": "write"})
    made = _new_token(form, user, workspace) if request.method == "POST" and form.is_valid() else None
    plaintext = made[1] if made else ""
    context: dict[str, Any] = {
        "workspaces": mine,
        "workspace": workspace,
        "form": form,
        "token": plaintext,
        "light": light_of(user, made[0].token_key) if made else None,
        "snippets": http_snippets(mcp_url(), plaintext or PLACEHOLDER),
        "local": stdio_snippets(local_program(workspace)) if user.is_superuser else [],
        "tokens": tokens_of(user),
        "calls": calls_lately(user),
        "days": TOKEN_DAYS_DEFAULT,
        "poll_s": LIGHT_POLL_S,
        "url": mcp_url(),
    }
    return render(request, "mcp/connect.html", context)


@require_GET
@login_required
def light(request: HttpRequest) -> HttpResponse:
    found = light_of(cast("User", request.user), clean(request.GET.get("token", "")))
    if found is None:
        raise Http404
    if request.GET.get("seen") == found.seen:
        return HttpResponse(status=204)
    return render(request, "mcp/_light.html", {"light": found, "poll_s": LIGHT_POLL_S})


@require_POST
@login_required
def revoke(request: HttpRequest) -> HttpResponse:
    """End one of the person's own tokens; those of others are an owner's matter, in admin."""
    key = clean(request.POST.get("token", ""))
    token = ApiToken.objects.filter(user=cast("User", request.user), token_key=key).first()
    if token is None:
        raise Http404
    token_revoke(token)
    messages.success(request, f"{token.name} is revoked: whoever holds it is shut out.")
    return HttpResponseRedirect(reverse("mcp:connect"))


def _new_token(form: TokenForm, user: User, workspace: Workspace) -> tuple[ApiToken, str] | None:
    name = free_token_name(user, form.cleaned_data["name"])
    try:
        return token_create(user=user, name=name, workspace=workspace, scopes=form.scopes)
    except TokenRefused as refusal:
        form.add_error("name", str(refusal))
        return None


def mcp_url() -> str:
    return f"{settings.CREW_PUBLIC_URL}{HTTP_PATH}?profile=coding"


def local_program(workspace: Workspace) -> Program:
    words = ["mcp", "--profile", "coding"]
    if workspace.slug != DEFAULT_SLUG:
        words += ["--workspace", workspace.slug]
    environment = {"CREW_HOME": str(settings.CREW_HOME)} if "CREW_HOME" in os.environ else None
    return Program(str(Path(sys.executable).parent / "crew"), words, environment)

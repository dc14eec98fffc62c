"""Which workspace a page shows: the one last chosen in this session, if it may still be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crewsite.accounts.models import DEFAULT_SLUG, Workspace

if TYPE_CHECKING:
    from django.http import HttpRequest

SESSION_KEY = "workspace"


def my_workspaces(request: HttpRequest) -> list[Workspace]:
    """All workspaces this person may read, the default one first."""
    found = Workspace.objects.for_user(request.user).select_related("memory_home")
    return sorted(found, key=lambda workspace: (workspace.slug != DEFAULT_SLUG, workspace.name))


def current_workspace(request: HttpRequest, mine: list[Workspace] | None = None) -> Workspace | None:
    """None only for a person who belongs to no workspace."""
    mine = my_workspaces(request) if mine is None else mine
    chosen = request.session.get(SESSION_KEY)
    return next((workspace for workspace in mine if workspace.slug == chosen), mine[0] if mine else None)

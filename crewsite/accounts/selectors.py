"""Which workspace a request means, and whether its person may use it.

Everything starts at `Workspace.objects.for_user`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crewsite.accounts.errors import RoleTooLow, WorkspaceNotFound
from crewsite.accounts.models import (
    DEFAULT_SLUG,
    ApiToken,
    Membership,
    Role,
    User,
    Workspace,
    WorkspaceQuerySet,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


def default_workspace() -> Workspace:
    return Workspace.objects.get_or_create(slug=DEFAULT_SLUG, defaults={"name": "Default"})[0]


def workspaces_for(
    user: User | AnonymousUser, *, token: ApiToken | None = None, at_least: Role = Role.VIEWER
) -> WorkspaceQuerySet:
    """What the person may use in that role; a token bound to a workspace narrows it to that one."""
    workspaces = Workspace.objects.for_user(user, at_least=at_least)
    if token is not None and token.workspace_id is not None:
        return workspaces.filter(pk=token.workspace_id)
    return workspaces


def workspace_resolve(
    user: User | AnonymousUser, *, token: ApiToken | None = None, slug: str = "", at_least: Role = Role.VIEWER
) -> Workspace:
    """The named workspace, else the token's, else the default one, else the person's first.

    Raises WorkspaceNotFound for a stranger (missing and forbidden look the same), and RoleTooLow for a member
    who may less.
    """
    seen = workspaces_for(user, token=token)
    if slug:
        workspace = seen.filter(slug=slug).first()
    else:
        workspace = seen.filter(slug=DEFAULT_SLUG).first() or seen.order_by("pk").first()
    if workspace is None:
        raise WorkspaceNotFound(slug)
    if not workspaces_for(user, token=token, at_least=at_least).filter(pk=workspace.pk).exists():
        raise RoleTooLow(workspace.slug, at_least)
    return workspace


def outsiders(workspace: Workspace, *, home: Workspace | None = None) -> list[User]:
    """Members of the workspace who are not in its memory home, and so would read what they may not see."""
    home = home or workspace.home
    if home.pk == workspace.pk:
        return []
    inside = Membership.objects.filter(workspace=home).values("user")
    return list(
        User.objects.filter(memberships__workspace=workspace, is_superuser=False)
        .exclude(pk__in=inside)
        .order_by("username")
    )

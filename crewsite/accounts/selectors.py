"""Which workspace a request means, and whether its person may use it.

Everything starts at `Workspace.objects.for_user`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    if at_least != Role.VIEWER and not (
        workspaces_for(user, token=token, at_least=at_least).filter(pk=workspace.pk).exists()
    ):
        raise RoleTooLow(workspace.slug, at_least)
    return workspace


def may_delete(user: User, row: Any) -> bool:
    """Whether a person who may write may also delete this row of a memory home: their own, or any as an owner
    of the home (chapter 13, 13.9).
    """
    return is_of(user, row) or (
        Workspace.objects.for_user(user, at_least=Role.OWNER).filter(pk=row.home_id).exists()
    )


def is_of(user: User, row: Any) -> bool:
    """Whose word a row of a memory home is. What was distilled from a conversation is of who had it."""
    wrote = row.author_id or (row.conversation.owner_id if row.conversation else None)
    return bool(wrote == user.pk)


def outsiders(workspace: Workspace, *, home: Workspace | None = None) -> list[User]:
    """Members of the workspace who are not in its memory home, and so would read what they may not see."""
    home = home or workspace.home
    if home.pk == workspace.pk:
        return []
    inside = Membership.objects.filter(workspace=home).values("user")
    members = User.objects.filter(memberships__workspace=workspace, is_superuser=False)
    return list(members.exclude(pk__in=inside).order_by("username"))


def sharing_problem(workspace: Workspace, *, joining: User | None = None) -> str:
    """Why the workspace must not share its memory home, as it is or with one more member; else empty."""
    home = workspace.home
    if home.pk == workspace.pk:
        return ""
    people = outsiders(workspace, home=home) if joining is None else [joining]
    strangers = [
        person.get_username()
        for person in people
        if not person.is_superuser and not Membership.objects.filter(workspace=home, user=person).exists()
    ]
    if not strangers:
        return ""
    return (
        f"{', '.join(strangers)} would read the memory of {home.name} without being a member there. "
        f"Isolate {workspace.name}, add them to {home.name}, or confirm the sharing."
    )

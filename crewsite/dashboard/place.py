"""Where a page stands: whose memory it shows and what this person may do there (chapter 13, 13.9)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.shortcuts import render

from crewsite.accounts.models import Role, User, Workspace
from crewsite.accounts.selectors import is_of
from crewsite.dashboard.workspaces import current_workspace, my_workspaces
from crewsite.security.origin import Origin, Source, Surface

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse


@dataclass(frozen=True, slots=True)
class Place:
    """Layers 1 to 3 are those of `workspace`, layers 4 to 6 those of `home`; a role is asked for each."""

    user: User
    workspaces: list[Workspace]
    workspace: Workspace
    home: Workspace
    may_write: bool
    owned: frozenset[int]

    @property
    def origin(self) -> Origin:
        """A change made on a page is explicit and carries the person's name."""
        return Origin(source=Source.USER_EXPLICIT, surface=Surface.WEB, actor=self.user.get_username())

    @property
    def is_shared(self) -> bool:
        return self.home.pk != self.workspace.pk

    def owns(self, workspace_id: int) -> bool:
        return workspace_id in self.owned

    @property
    def may_decide(self) -> bool:
        return self.home.pk in self.owned or self.workspace.pk in self.owned

    def may_delete(self, row: Any) -> bool:
        """`accounts.selectors.may_delete`, for many rows of a memory home without a query for each."""
        return self.owns(row.home_id) or (self.may_write and is_of(self.user, row))

    def require_writing(self) -> None:
        if not self.may_write:
            raise PermissionDenied


def place_of(request: HttpRequest) -> Place | None:
    """None for a person who belongs to no workspace. Asked for once a request."""
    if not hasattr(request, "crew_place"):
        request.crew_place = _place_of(request)  # type: ignore[attr-defined]
    return cast("Place | None", request.crew_place)  # type: ignore[attr-defined]


def _place_of(request: HttpRequest) -> Place | None:
    mine = my_workspaces(request)
    workspace = current_workspace(request, mine)
    if workspace is None:
        return None
    home, user = workspace.home, cast("User", request.user)
    both = {workspace.pk, home.pk}
    owned = Workspace.objects.for_user(user, at_least=Role.OWNER).filter(pk__in=both)
    writable = Workspace.objects.for_user(user, at_least=Role.MEMBER).filter(pk=workspace.pk)
    return Place(
        user=user,
        workspaces=mine,
        workspace=workspace,
        home=home,
        may_write=writable.exists(),
        owned=frozenset(owned.values_list("pk", flat=True)),
    )


def in_place(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """For views that take `(request, place, ...)`. Without a workspace there is nothing to show."""

    @login_required
    @wraps(view)
    def placed(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        place = place_of(request)
        if place is None:
            return render(request, "dashboard/no_workspace.html", {"workspaces": [], "workspace": None})
        return view(request, place, *args, **kwargs)

    return placed


def page(
    request: HttpRequest, place: Place, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    frame = {"place": place, "workspaces": place.workspaces, "workspace": place.workspace}
    return render(request, template, {**frame, **context}, status=status)


def is_fragment(request: HttpRequest) -> bool:
    """Whether a part of the page was asked for. A page brought back from history is asked for whole."""
    return bool(request.headers.get("HX-Request")) and not request.headers.get("HX-History-Restore-Request")


def operators_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """For pages of the site itself, which belong to no workspace."""

    @login_required
    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_superuser:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return checked

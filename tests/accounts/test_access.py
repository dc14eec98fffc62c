"""Workspaces through the one choke point: who may use which, in what role."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from crewsite.accounts.errors import RoleTooLow, WorkspaceNotFound
from crewsite.accounts.models import Role, User, Workspace
from crewsite.accounts.selectors import sharing_problem, workspace_resolve, workspaces_for
from crewsite.accounts.services import token_create
from tests.factories import make_member, make_user, make_workspace

pytestmark = pytest.mark.django_db

ROLES = [Role.VIEWER, Role.MEMBER, Role.OWNER]


@pytest.mark.parametrize("has", ROLES)
@pytest.mark.parametrize("needs", ROLES)
def test_a_role_reaches_as_far_as_it_ranks(home: Workspace, has: Role, needs: Role) -> None:
    user = make_user("dora")
    make_member(user, home, has)
    allowed = Workspace.objects.for_user(user, at_least=needs).filter(pk=home.pk).exists()
    assert allowed == (ROLES.index(has) >= ROLES.index(needs))


def test_strangers_the_anonymous_and_the_deactivated_see_nothing(home: Workspace, charlie: User) -> None:
    gone = make_user("gone", is_active=False)
    make_member(gone, home, Role.OWNER)
    for user in (charlie, AnonymousUser(), gone):
        assert not Workspace.objects.for_user(user).exists()


def test_an_operator_sees_every_workspace(home: Workspace, other_home: Workspace) -> None:
    operator = make_user("root", is_superuser=True)
    assert set(Workspace.objects.for_user(operator)) == {home, other_home}


def test_names_match_exactly_and_never_by_prefix(home: Workspace) -> None:
    first, second = make_user("test_user"), make_user("test_user1")
    mine, theirs = make_workspace("team", is_isolated=True), make_workspace("team1", is_isolated=True)
    make_member(first, mine)
    make_member(second, theirs)
    assert list(workspaces_for(first)) == [mine]
    with pytest.raises(WorkspaceNotFound):
        workspace_resolve(first, slug="team1")


def test_missing_and_forbidden_look_the_same(charlie: User, home: Workspace) -> None:
    with pytest.raises(WorkspaceNotFound) as forbidden:
        workspace_resolve(charlie, slug="default")
    with pytest.raises(WorkspaceNotFound) as missing:
        workspace_resolve(charlie, slug="nowhere")
    assert str(forbidden.value).replace("default", "X") == str(missing.value).replace("nowhere", "X")


def test_a_member_without_the_role_is_told_which_one_it_needs(bob: User) -> None:
    with pytest.raises(RoleTooLow, match="owner"):
        workspace_resolve(bob, at_least=Role.OWNER)


def test_without_a_name_the_default_workspace_is_meant_else_the_first_of_ones_own(
    alice: User, charlie: User, other_home: Workspace
) -> None:
    make_member(alice, other_home)
    make_member(charlie, other_home)
    assert workspace_resolve(alice).slug == "default"
    assert workspace_resolve(charlie) == other_home


def test_a_token_bound_to_a_workspace_reaches_no_other(
    alice: User, home: Workspace, other_home: Workspace
) -> None:
    make_member(alice, other_home, Role.OWNER)
    token, _ = token_create(user=alice, name="narrow", workspace=other_home)
    assert workspace_resolve(alice, token=token) == other_home
    with pytest.raises(WorkspaceNotFound):
        workspace_resolve(alice, token=token, slug="default")


def test_a_bound_token_ends_with_the_membership(alice: User, other_home: Workspace) -> None:
    membership = make_member(alice, other_home)
    token, _ = token_create(user=alice, name="narrow", workspace=other_home)
    membership.delete()
    with pytest.raises(WorkspaceNotFound):
        workspace_resolve(alice, token=token)


def test_sharing_is_a_problem_only_with_somebody_outside_the_home(alice: User, charlie: User) -> None:
    guest = make_workspace("guest")
    make_member(alice, guest)
    assert sharing_problem(guest) == ""
    make_member(charlie, guest)
    assert "charlie" in sharing_problem(guest)
    guest.is_isolated = True
    assert sharing_problem(guest) == ""


def test_an_operator_inside_a_shared_workspace_is_no_problem(home: Workspace) -> None:
    guest = make_workspace("guest")
    make_member(make_user("root", is_superuser=True), guest)
    assert sharing_problem(guest) == ""

"""The owner, login links, tokens and memberships."""

from __future__ import annotations

import hashlib
import logging
import threading
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone
from knox.models import get_digest_token

from crewsite.accounts import services
from crewsite.accounts.errors import SharingNeedsDecision, TokenRefused
from crewsite.accounts.models import ApiToken, LoginLink, Membership, Role, User, Workspace
from crewsite.accounts.services import (
    accounts_prune,
    default_workspace,
    login_link_create,
    login_link_is_valid,
    login_link_use,
    member_add,
    owner_ensure,
    token_create,
    token_revoke,
)
from crewsite.accounts.tokens import token_find, token_touch
from tests.factories import make_member, make_user, make_workspace

pytestmark = pytest.mark.django_db


def test_the_owner_is_made_once_without_a_password_and_owns_the_default_workspace() -> None:
    owner = owner_ensure()
    assert owner_ensure() == owner
    assert owner.is_superuser
    assert owner.is_staff
    assert not owner.has_usable_password()
    assert Membership.objects.get(user=owner).role == Role.OWNER


def test_an_existing_operator_is_the_owner() -> None:
    boss = make_user("boss", is_superuser=True)
    assert owner_ensure() == boss
    assert User.objects.count() == 1


def test_a_person_who_happens_to_be_called_owner_is_not_promoted() -> None:
    bystander = make_user("owner")
    owner = owner_ensure()
    bystander.refresh_from_db()
    assert owner.username == "owner2"
    assert not bystander.is_superuser


def test_the_default_workspace_always_exists() -> None:
    Workspace.objects.all().delete()
    assert default_workspace() == default_workspace()


def test_a_login_link_is_kept_as_a_hash_only(alice: User) -> None:
    token = login_link_create(alice)
    row = LoginLink.objects.get()
    assert len(token) >= 43  # 256 bits in base64
    assert row.token_hash == hashlib.sha256(token.encode()).hexdigest()


def test_a_login_link_works_once(alice: User) -> None:
    token = login_link_create(alice)
    assert login_link_is_valid(token)
    assert login_link_is_valid(token)
    assert login_link_use(token) == alice
    assert not login_link_is_valid(token)
    assert login_link_use(token) is None


def test_a_login_link_ends_after_a_quarter_of_an_hour(alice: User) -> None:
    now = timezone.now()
    token = login_link_create(alice, now=now)
    assert not login_link_is_valid(token, now=now + timedelta(minutes=15))
    assert login_link_use(token, now=now + timedelta(minutes=15)) is None
    assert login_link_use(token, now=now + timedelta(minutes=14, seconds=59)) == alice


def test_a_login_link_of_a_deactivated_person_does_not_work(alice: User) -> None:
    token = login_link_create(alice)
    User.objects.update(is_active=False)
    assert login_link_use(token) is None


def test_an_unknown_login_link_does_not_work(alice: User) -> None:
    login_link_create(alice)
    assert login_link_use("x" * 43) is None
    assert login_link_use("") is None


@pytest.mark.django_db(transaction=True)
def test_of_two_threads_using_one_link_exactly_one_is_let_in() -> None:
    token = login_link_create(make_user("alice"))
    start, users = threading.Barrier(4), []

    def use() -> None:
        try:
            start.wait()
            users.append(login_link_use(token))
        finally:
            connection.close()

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(user is None for user in users) == [False, True, True, True]


def test_a_token_is_stored_as_a_hash_and_found_by_its_text(alice: User, home: Workspace) -> None:
    token, text = token_create(user=alice, name="ci", workspace=home)
    assert text.startswith("crew_")
    assert text not in str(list(ApiToken.objects.values()))
    assert token.token_key == text[:15]
    found = token_find(text)
    assert found == token
    assert found.scopes == ["read", "write"]
    assert timedelta(days=89) < found.expiry - timezone.now() <= timedelta(days=90)


def test_expired_revoked_unknown_and_foreign_tokens_are_not_found(alice: User) -> None:
    token, text = token_create(user=alice, name="ci", days=1)
    assert token_find(text, now=timezone.now() + timedelta(days=1, seconds=1)) is None
    assert token_find(text[:-1] + "x") is None
    assert token_find("") is None
    assert token_find("crew_\udcff") is None
    assert token_find("ghp_" + "y" * 36) is None
    token_revoke(token)
    assert token_find(text) is None


def test_a_token_ends_with_its_person(alice: User) -> None:
    _, text = token_create(user=alice, name="ci")
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert token_find(text) is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": "  "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "taken"}, "already"),
        ({"days": 0}, "365"),
        ({"days": 366}, "365"),
        ({"scopes": []}, "Scopes"),
        ({"scopes": ["read", "everything"]}, "Scopes"),
    ],
)
def test_a_token_that_breaks_a_rule_is_refused_by_its_name(
    alice: User, fields: dict[str, object], reason: str
) -> None:
    token_create(user=alice, name="taken")
    with pytest.raises(TokenRefused, match=reason):
        token_create(**{"user": alice, "name": "ci", **fields})
    assert ApiToken.objects.count() == 1


def test_a_name_that_somebody_faster_took_is_refused_in_words(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def while_another_makes_theirs() -> tuple[str, str]:
        monkeypatch.undo()
        token_create(user=alice, name="ci")
        return get_digest_token()

    monkeypatch.setattr(services, "get_digest_token", while_another_makes_theirs)
    with pytest.raises(TokenRefused, match="already has a token named 'ci'"):
        token_create(user=alice, name="ci")
    assert ApiToken.objects.count() == 1


def test_a_token_cannot_be_bound_to_a_workspace_its_person_is_not_in(charlie: User, home: Workspace) -> None:
    with pytest.raises(TokenRefused, match="not a member"):
        token_create(user=charlie, name="ci", workspace=home)


def test_the_last_use_of_a_token_is_noted_at_most_once_a_minute(alice: User) -> None:
    token, _ = token_create(user=alice, name="ci")
    now = timezone.now()
    token_touch(token, now=now)
    token_touch(token, now=now + timedelta(seconds=30))
    assert ApiToken.objects.get().last_used_at == now
    token_touch(token, now=now + timedelta(seconds=61))
    assert ApiToken.objects.get().last_used_at == now + timedelta(seconds=61)


def test_adding_a_member_twice_changes_their_role(alice: User, home: Workspace, charlie: User) -> None:
    member_add(user=charlie, workspace=home)
    member_add(user=charlie, workspace=home, role=Role.OWNER)
    assert Membership.objects.get(user=charlie).role == Role.OWNER


def test_a_member_who_is_not_in_the_memory_home_needs_a_decision(alice: User, charlie: User) -> None:
    guest = make_workspace("guest")
    with pytest.raises(SharingNeedsDecision, match="charlie would read the memory of Default"):
        member_add(user=charlie, workspace=guest)
    assert not Membership.objects.filter(user=charlie).exists()
    member_add(user=alice, workspace=guest)


def test_an_isolated_workspace_takes_anybody(charlie: User) -> None:
    workspace = make_workspace("apart", is_isolated=True)
    assert member_add(user=charlie, workspace=workspace)


def test_only_an_operator_can_confirm_the_sharing_and_that_is_logged(
    alice: User, charlie: User, caplog: pytest.LogCaptureFixture
) -> None:
    guest = make_workspace("guest")
    with pytest.raises(SharingNeedsDecision):
        member_add(user=charlie, workspace=guest, confirmed_by=alice)
    operator = make_user("root", is_superuser=True)
    with caplog.at_level(logging.CRITICAL):
        member_add(user=charlie, workspace=guest, confirmed_by=operator)
    assert Membership.objects.filter(user=charlie, workspace=guest).exists()
    assert "charlie" in caplog.text


def test_the_prune_keeps_what_still_explains_a_refusal(alice: User, home: Workspace) -> None:
    now = timezone.now()
    make_member(make_user("dora"), home)
    token_create(user=alice, name="old", days=1, now=now - timedelta(days=40))
    token_create(user=alice, name="fresh", days=1, now=now - timedelta(days=10))
    login_link_create(alice, now=now - timedelta(days=40))
    login_link_create(alice, now=now)
    Session.objects.create(session_key="old", session_data="", expire_date=now - timedelta(days=1))
    Session.objects.create(session_key="new", session_data="", expire_date=now + timedelta(days=1))
    assert accounts_prune(now=now) == {"sessions": 1, "tokens": 1, "links": 1, "failures": 0}
    assert ApiToken.objects.get().name == "fresh"
    assert Session.objects.get().session_key == "new"

"""`crew token`, `crew login-link` and `setup_owner`: what scripts read is on stdout, the rest on stderr."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.utils import timezone

from crewsite.accounts.constants import TOKEN_DAYS_MAX
from crewsite.accounts.models import ApiToken, User, Workspace
from crewsite.accounts.services import owner_ensure, token_create
from crewsite.accounts.tokens import token_find

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db


def run(*args: str, **options: Any) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(*args, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_creating_a_token_prints_it_alone(home: Workspace) -> None:
    out, err = run("token", "create", "--name", "ci")
    text = out.strip()
    found = token_find(text)
    assert out == text + "\n"
    assert found
    assert found.user == owner_ensure()
    assert text not in err


def test_a_token_can_be_narrowed(alice: User, home: Workspace) -> None:
    args = ["--name", "ci", "--user", "alice", "--workspace", "default", "--scope", "read", "--days", "3"]
    out, _ = run("token", "create", *args, "--json")
    answer = json.loads(out)
    found = token_find(answer["token"])
    assert found
    assert (found.user, found.workspace, found.scopes) == (alice, home, ["read"])
    assert (found.expiry - timezone.now()).days <= 3
    assert answer["workspace"] == "default"


def test_listing_tokens_never_shows_their_text(alice: User) -> None:
    _, text = token_create(user=alice, name="ci")
    for args in (["token", "list"], ["token", "list", "--json"]):
        out, _ = run(*args)
        assert text not in out
        assert "ci" in out
    assert json.loads(out)[0]["name"] == "ci"


def test_revoking_ends_the_token(alice: User) -> None:
    _, text = token_create(user=alice, name="ci")
    run("token", "revoke", "ci")
    assert token_find(text) is None


def test_revoking_asks_whose_where_two_share_a_name(alice: User, bob: User) -> None:
    token_create(user=alice, name="ci")
    token_create(user=bob, name="ci")
    with pytest.raises(CommandError, match="alice, bob"):
        run("token", "revoke", "ci")
    run("token", "revoke", "ci", "--user", "bob")
    assert ApiToken.objects.get().user == alice


@pytest.mark.parametrize(
    "args",
    [
        ["create", "--name", "ci", "--user", "nobody"],
        ["create", "--name", "ci", "--workspace", "nowhere"],
        ["create", "--name", "ci", "--days", "400"],
        ["revoke", "nothing"],
    ],
)
def test_a_refusal_is_an_error_with_its_reason(home: Workspace, args: list[str]) -> None:
    with pytest.raises(CommandError) as refused:
        run("token", *args)
    assert str(refused.value)
    assert not ApiToken.objects.exists()


def test_a_printed_link_logs_the_owner_in(client: Client, settings: Any, home: Workspace) -> None:
    settings.CREW_PUBLIC_URL = "http://127.0.0.1:8000"
    told = json.loads(run("login_link", "--json")[0])
    assert (told["user"], told["url"][:22]) == (owner_ensure().get_username(), "http://127.0.0.1:8000/")
    out, _ = run("login_link")
    path = out.strip().removeprefix("http://127.0.0.1:8000")
    assert client.post(path).status_code == 302
    assert client.session["_auth_user_id"] == str(owner_ensure().pk)


def test_a_link_for_an_unknown_person_is_refused(db: None) -> None:
    with pytest.raises(CommandError, match="nobody"):
        run("login_link", "--user", "nobody")


def test_setup_prints_links_until_the_owner_has_been_in_once(home: Workspace) -> None:
    assert "/login/link/" in run("setup_owner")[0]
    assert "/login/link/" in run("setup_owner")[0]
    User.objects.update(last_login=timezone.now())
    assert run("setup_owner")[0] == ""
    assert "/login/link/" in run("setup_owner", "--link")[0]
    assert User.objects.count() == 1


@pytest.mark.parametrize("days", ["0", "ten", str(TOKEN_DAYS_MAX + 1)])
def test_a_life_time_no_token_has_is_wrong_usage(home: Workspace, days: str) -> None:
    command = load_command_class("crewsite.accounts", "token")
    with pytest.raises(SystemExit) as ended:
        command.run_from_argv(["crew", "token", "create", "--name", "ci", "--days", days])
    assert ended.value.code == 2

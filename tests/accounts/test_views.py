"""Getting in and out through the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.urls import reverse

from crewsite.accounts.services import login_link_create

if TYPE_CHECKING:
    from crewsite.accounts.models import User

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


def _link(user: User) -> str:
    return reverse("login_link", args=[login_link_create(user)])


def test_a_link_seen_twice_then_used_works_once(client: Client, alice: User) -> None:
    url = _link(alice)
    for _ in range(2):
        page = client.get(url)
        assert page.status_code == 200
        assert page.context["valid"] is True
        assert "_auth_user_id" not in client.session
    entered = client.post(url)
    assert entered.status_code == 302
    assert client.session["_auth_user_id"] == str(alice.pk)
    again = Client().post(url)
    assert again.status_code == 410
    assert again.context["valid"] is False


def test_a_used_link_says_so_and_logs_nobody_in(client: Client, alice: User) -> None:
    url = _link(alice)
    client.post(url)
    other = Client()
    assert other.get(url).status_code == 410
    assert "_auth_user_id" not in other.session


def test_using_a_link_needs_the_csrf_token_of_its_page(alice: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    url = _link(alice)
    assert browser.post(url).status_code == 403
    page = browser.get(url)
    accepted = browser.post(url, {"csrfmiddlewaretoken": str(page.context["csrf_token"])})
    assert accepted.status_code == 302


def test_logging_in_changes_the_session_id(client: Client, alice: User) -> None:
    session = client.session
    session["before"] = 1
    session.save()
    before = session.session_key
    client.post(_link(alice))
    assert client.session.session_key != before


def test_the_page_of_a_link_is_kept_by_no_cache(client: Client, alice: User) -> None:
    assert "no-store" in client.get(_link(alice)).headers["Cache-Control"]


def test_a_password_lets_in_and_a_wrong_one_does_not(client: Client, alice: User) -> None:
    login = reverse("login")
    refused = client.post(login, {"username": "alice", "password": "wrong"})
    assert refused.status_code == 200
    assert "_auth_user_id" not in client.session
    assert client.post(login, {"username": "alice", "password": PASSWORD}).status_code == 302
    assert client.session["_auth_user_id"] == str(alice.pk)


def test_five_wrong_passwords_lock_even_the_right_one_out(client: Client, alice: User) -> None:
    login = reverse("login")
    for _ in range(5):
        client.post(login, {"username": "alice", "password": "wrong"})
    locked = client.post(login, {"username": "alice", "password": PASSWORD})
    assert locked.status_code == 429
    assert "_auth_user_id" not in client.session


def test_a_password_login_without_a_csrf_token_is_refused(alice: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    answer = browser.post(reverse("login"), {"username": "alice", "password": PASSWORD})
    assert answer.status_code == 403


def test_logging_out_takes_a_post(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.get(reverse("logout")).status_code == 405
    assert "_auth_user_id" in client.session
    client.post(reverse("logout"))
    assert "_auth_user_id" not in client.session


def test_the_login_page_does_not_send_people_to_other_sites(client: Client, alice: User) -> None:
    answer: Any = client.post(
        reverse("login") + "?next=https://evil.example/", {"username": "alice", "password": PASSWORD}
    )
    assert answer["Location"] == "/"


def test_an_account_without_a_password_sets_one(client: Client, alice: User) -> None:
    alice.set_unusable_password()
    alice.save()
    client.force_login(alice)
    page = client.get(reverse("password"))
    assert "old_password" not in page.context["form"].fields
    assert "Set a password" in page.content.decode()
    client.post(reverse("password"), {"new_password1": PASSWORD, "new_password2": PASSWORD})
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)
    assert client.get("/").status_code == 200, "the session that set it goes on"


def test_an_account_with_a_password_is_asked_for_it(client: Client, alice: User) -> None:
    alice.set_password(PASSWORD)
    alice.save()
    client.force_login(alice)
    new = "another horse battery"
    refused = client.post(reverse("password"), {"new_password1": new, "new_password2": new})
    assert "old_password" in refused.context["form"].errors
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)


def test_the_admin_leads_to_the_same_page_of_passwords(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.get(reverse("admin:password_change")).headers["Location"] == reverse("password")

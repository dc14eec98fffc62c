"""The websocket's door: sessions with a page of ours, tokens, and nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings as site
from django.contrib.sessions.models import Session
from django.test import Client

from crewsite.accounts.models import User
from crewsite.accounts.origins import origin_allowed
from crewsite.accounts.services import token_create, token_revoke
from crewsite.accounts.sockets import AuthenticatedSocket, authenticate, still_valid

pytestmark = pytest.mark.django_db

OURS = "https://crew.example"


@pytest.fixture(autouse=True)
def _address(settings: Any) -> None:
    settings.CREW_PUBLIC_URL = OURS
    settings.CREW_ALLOWED_ORIGINS = ["https://partner.example:8443"]
    settings.CREW_PORT = 8123


def enter(*, subprotocols: tuple[str, ...] = (), **headers: str) -> AuthenticatedSocket | None:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return authenticate({"type": "websocket", "headers": raw, "subprotocols": list(subprotocols)})


def cookie_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return f"theme=dark; {site.SESSION_COOKIE_NAME}={client.cookies[site.SESSION_COOKIE_NAME].value}"


def test_a_session_with_our_page_comes_in(alice: User) -> None:
    socket = enter(cookie=cookie_of(alice), origin=OURS)
    assert socket
    assert socket.user == alice
    assert socket.token is None
    assert still_valid(socket)


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "https://crew.example:8443",
        "http://crew.example",
        "https://crew.example.evil.example",
        "https://crew.example@evil.example",
        "null",
        "",
        "https://crew.example:port",
    ],
)
def test_a_session_with_any_other_page_does_not(alice: User, origin: str) -> None:
    assert enter(cookie=cookie_of(alice), origin=origin) is None


def test_a_session_without_an_origin_does_not(alice: User) -> None:
    assert enter(cookie=cookie_of(alice)) is None


def test_a_listed_partner_origin_counts_with_its_port_only() -> None:
    assert origin_allowed("https://partner.example:8443")
    assert not origin_allowed("https://partner.example")
    assert origin_allowed("https://crew.example:443")


def test_loopback_names_on_our_port_count_in_development_only(settings: Any) -> None:
    names = ["http://localhost:8123", "http://127.0.0.1:8123", "http://[::1]:8123"]
    assert all(origin_allowed(name) for name in names)
    assert not origin_allowed("http://localhost:8124")
    settings.PRODUCTION = True
    assert not any(origin_allowed(name) for name in names)


def test_a_token_comes_in_without_an_origin_by_header_or_subprotocol(alice: User) -> None:
    token, text = token_create(user=alice, name="ci")
    for socket in (
        enter(authorization=f"Bearer {text}"),
        enter(authorization=f"Token {text}"),
        enter(subprotocols=("crew.v1", f"token.{text}")),
    ):
        assert socket
        assert socket.token == token
        assert socket.user == alice


def test_a_token_with_a_foreign_origin_does_not(alice: User) -> None:
    _, text = token_create(user=alice, name="ci")
    assert enter(authorization=f"Bearer {text}", origin="https://evil.example") is None


def test_a_wrong_token_does_not_fall_back_to_the_session(alice: User) -> None:
    assert enter(authorization="Bearer crew_wrong", cookie=cookie_of(alice), origin=OURS) is None


@pytest.mark.parametrize("cookie", ["", "sessionid=unknown", 'sessionid="', "a=b; =; sessionid"])
def test_broken_and_unknown_cookies_are_nobody(cookie: str, db: None) -> None:
    assert enter(cookie=cookie, origin=OURS) is None


def test_a_revoked_token_a_closed_session_and_a_changed_password_end_a_socket(alice: User) -> None:
    token, text = token_create(user=alice, name="ci")
    by_token = enter(authorization=f"Bearer {text}")
    by_session = enter(cookie=cookie_of(alice), origin=OURS)
    assert by_token
    assert by_session
    alice.set_password("another long password")
    alice.save()
    assert not still_valid(by_session)
    assert still_valid(by_token)
    token_revoke(token)
    assert not still_valid(by_token)
    again = enter(cookie=cookie_of(alice), origin=OURS)
    assert again
    Session.objects.all().delete()
    assert not still_valid(again)


def test_a_deactivated_person_is_nobody(alice: User) -> None:
    cookie = cookie_of(alice)
    User.objects.update(is_active=False)
    assert enter(cookie=cookie, origin=OURS) is None

"""The Connect page: a token on a click, shown once, and a light that follows its first use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.test import Client

from crewsite.accounts.models import ApiToken
from crewsite.accounts.services import token_create
from crewsite.accounts.tokens import token_find, token_touch
from crewsite.mcp.callers import caller_resolve
from crewsite.mcp.calls import Answer, call_record
from crewsite.mcp.selectors import free_token_name

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db
PAGE = "/connect/"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def made(client: Client, **fields: str) -> tuple[str, str]:
    """The page after the click, and the token on it."""
    html = client.post(PAGE, {"name": "Laptop", "access": "write", **fields}).content.decode()
    found = re.search(r'id="token-text"[^>]*>(crew_\w+)<', html)
    assert found
    return html, found[1]


def test_a_click_makes_a_token_and_fills_it_into_every_snippet(bob: User, home: Workspace) -> None:
    html, plaintext = made(signed_in(bob))
    token = token_find(plaintext)
    assert token is not None
    assert (token.user, token.name, token.workspace, token.scopes) == (bob, "Laptop", home, ["read", "write"])
    assert html.count(plaintext) == 7
    assert "YOUR_TOKEN" not in html
    for client in ("Claude Code", "Codex", "Cursor", "Qwen Code", "Gemini CLI", "Kiro"):
        assert client in html


def test_the_token_is_shown_once(bob: User) -> None:
    client = signed_in(bob)
    _, plaintext = made(client)
    page = client.get(PAGE)
    assert plaintext not in page.content.decode()
    assert "YOUR_TOKEN" in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]


def test_a_read_only_token_may_not_write(bob: User) -> None:
    _, plaintext = made(signed_in(bob), access="read")
    token = token_find(plaintext)
    assert token is not None
    assert token.scopes == ["read"]


def test_a_taken_name_gets_a_number_and_an_empty_one_is_refused(bob: User) -> None:
    client = signed_in(bob)
    for _ in range(3):
        made(client)
    assert sorted(ApiToken.objects.values_list("name", flat=True)) == ["Laptop", "Laptop 2", "Laptop 3"]
    assert free_token_name(bob, "Desktop") == "Desktop"
    empty = client.post(PAGE, {"name": " ", "access": "write"})
    assert "field-error" in empty.content.decode()
    assert ApiToken.objects.count() == 3


def test_only_an_operator_is_shown_the_way_without_a_token(bob: User, alice: User) -> None:
    assert "Without a token" not in signed_in(bob).get(PAGE).content.decode()
    alice.is_superuser = True
    alice.save()
    assert "Without a token" in signed_in(alice).get(PAGE).content.decode()


def test_the_light_goes_from_waiting_to_connected_to_live(bob: User) -> None:
    client = signed_in(bob)
    html, plaintext = made(client)
    assert "Waiting for the first call" in html
    token = token_find(plaintext)
    assert token is not None
    light = f"/connect/light/?token={token.token_key}&seen="
    assert client.get(light + "waiting").status_code == 204
    token_touch(token)
    assert "Connected." in client.get(light + "waiting").content.decode()
    caller = caller_resolve(user=bob, token=token, transport="http", client="claude-code 2.0")
    call_record(caller=caller, tool="memory_context", answer=Answer("x"), duration_ms=1)
    live = client.get(light + "connected").content.decode()
    assert "<strong>Live.</strong> claude-code 2.0 called <code>memory_context</code>" in live
    seen = re.search(r"seen=(live-\d+)", live)
    assert seen
    assert client.get(light + seen[1]).status_code == 204


def test_nobody_sees_or_revokes_the_tokens_of_others(alice: User, bob: User) -> None:
    token, _ = token_create(user=alice, name="hers")
    client = signed_in(bob)
    assert client.get(f"/connect/light/?token={token.token_key}").status_code == 404
    assert client.post("/connect/revoke/", {"token": token.token_key}).status_code == 404
    assert "hers" not in client.get(PAGE).content.decode()


def test_a_person_ends_their_own_token(bob: User) -> None:
    client = signed_in(bob)
    _, plaintext = made(client)
    key = plaintext[:15]
    page = client.post("/connect/revoke/", {"token": key}, follow=True)
    assert "is revoked" in page.content.decode()
    assert token_find(plaintext) is None


def test_what_an_agent_calls_itself_is_inert(bob: User) -> None:
    token, _ = token_create(user=bob, name="x")
    caller = caller_resolve(user=bob, token=token, transport="http", client="<script>alert(1)</script>")
    call_record(caller=caller, tool="<img src=x>", answer=Answer("x"), duration_ms=1)
    html = signed_in(bob).get(PAGE).content.decode()
    assert "<script>alert" not in html
    assert "<img src=x>" not in html


def test_strangers_and_guests_are_sent_away(charlie: User) -> None:
    assert Client().get(PAGE).status_code == 302
    assert Client().get("/connect/light/?token=x").status_code == 302
    assert "token-h" not in signed_in(charlie).get(PAGE).content.decode()

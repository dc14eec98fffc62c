"""Who gets what: a stranger sees nothing, a viewer writes nothing, a token stays inside its scope."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from rest_framework.test import APIClient

from crewsite.accounts.models import Membership, User, Workspace
from crewsite.conversations.models import Conversation
from lessons.models import Lesson
from tests.factories import make_conversation, make_message

if TYPE_CHECKING:
    from tests.fakes import FakeEmbedder

pytestmark = pytest.mark.django_db

Caller = Callable[[str], APIClient]

READS = {
    "embeddings": "/api/v1/embeddings/status",
    "preview": "/api/v1/memory/context-preview?q=hello&workspace=default",
    "search": "/api/v1/memory/search?q=hello&workspace=default",
    "lessons": "/api/v1/lessons/?workspace=default",
    "conversations": "/api/v1/conversations/?workspace=default",
}
ANSWERS = {
    "owner": 200,
    "member": 200,
    "viewer": 200,
    "session": 200,
    "read-only": 200,
    "write-only": 403,
    "stranger": 404,
    "elsewhere": 404,
    "anonymous": 401,
    "expired": 401,
}
WRITES = {
    "owner": 201,
    "member": 201,
    "viewer": 403,
    "session": 201,
    "read-only": 403,
    "write-only": 201,
    "stranger": 404,
    "elsewhere": 404,
    "anonymous": 401,
    "expired": 401,
}


@pytest.mark.sqlite_only
@pytest.mark.parametrize("who", ANSWERS)
@pytest.mark.parametrize("path", READS)
def test_reading(caller: Caller, embedder: FakeEmbedder, who: str, path: str) -> None:
    expected = ANSWERS[who]
    if path == "embeddings" and who == "elsewhere":
        expected = 200  # it belongs to no workspace, and this token has one
    answer = caller(who).get(READS[path])
    assert answer.status_code == expected, answer.content


@pytest.mark.sqlite_only
@pytest.mark.parametrize("who", WRITES)
def test_writing(caller: Caller, embedder: FakeEmbedder, who: str) -> None:
    answer = caller(who).post(
        "/api/v1/lessons/?workspace=default", {"rule": "Always use pytest"}, format="json"
    )
    assert answer.status_code == WRITES[who], answer.content
    assert Lesson.objects.count() == (1 if WRITES[who] == 201 else 0)


@pytest.mark.parametrize("who", ["owner", "member", "viewer", "stranger", "elsewhere"])
def test_messages_are_for_the_owner_of_the_conversation_only(
    caller: Caller, alice: User, home: Workspace, who: str
) -> None:
    conversation = make_conversation(alice, home)
    make_message(conversation, "my secret")
    answer = caller(who).get(f"/api/v1/conversations/{conversation.pk}/messages/")
    assert answer.status_code == (200 if who == "owner" else 404)
    assert (b"my secret" in answer.content) == (who == "owner")


def test_a_preview_of_somebody_elses_conversation_looks_missing(
    caller: Caller, alice: User, home: Workspace
) -> None:
    conversation = make_conversation(alice, home)
    answer = caller("member").get(f"/api/v1/memory/context-preview?conversation={conversation.pk}")
    assert answer.status_code == 404


def test_rights_end_with_the_membership(caller: Caller, bob: User, home: Workspace) -> None:
    client = caller("member")
    make_conversation(bob, home)
    assert len(client.get("/api/v1/conversations/").json()["results"]) == 1
    Membership.objects.filter(user=bob).delete()
    assert client.get("/api/v1/conversations/").json()["results"] == []
    assert client.get("/api/v1/lessons/").status_code == 404


def test_a_filter_of_the_client_can_narrow_and_never_widen(
    caller: Caller, alice: User, other_home: Workspace
) -> None:
    Conversation.objects.create(owner=alice, workspace=other_home)
    assert caller("owner").get("/api/v1/conversations/?workspace=other").status_code == 404
    assert caller("owner").get("/api/v1/conversations/").json()["results"] == []


def test_a_session_needs_the_csrf_token_to_write(alice: User) -> None:
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(alice)
    answer = browser.post("/api/v1/lessons/", {"rule": "Always use pytest"}, format="json")
    assert answer.status_code == 403
    assert "CSRF" in answer.json()["detail"]


def test_a_token_needs_no_csrf_token(caller: Caller) -> None:
    client = caller("stranger")
    client.handler.enforce_csrf_checks = True
    answer = client.post("/api/v1/lessons/", {"rule": "x"}, format="json")
    assert answer.status_code == 404


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer a b", "Bearer crew_unknown", "Token \xff", "Bearer crew_\x00"]
)
def test_a_broken_token_is_refused_with_how_to_send_one(db: None, header: str) -> None:
    answer = APIClient().get("/api/v1/lessons/", HTTP_AUTHORIZATION=header)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"

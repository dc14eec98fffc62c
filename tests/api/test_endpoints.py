"""What the endpoints answer, on real services."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from rest_framework.test import APIClient

from crewsite.accounts.models import Membership, User, Workspace
from crewsite.conversations.models import Conversation
from crewsite.security.models import MemoryEvent
from lessons.models import Lesson
from tests.factories import make_conversation, make_message, make_workspace

if TYPE_CHECKING:
    from tests.fakes import FakeEmbedder

pytestmark = pytest.mark.django_db

Caller = Callable[[str], APIClient]


def teach(client: APIClient, rule: str, **fields: object) -> dict[str, object]:
    answer = client.post("/api/v1/lessons/", {"rule": rule, **fields}, format="json")
    assert answer.status_code in {200, 201}, answer.content
    return dict(answer.json())


@pytest.mark.sqlite_only
def test_a_lesson_taught_twice_is_one_row_and_unchanged(caller: Caller, embedder: FakeEmbedder) -> None:
    client = caller("owner")
    first = teach(client, "Always use pytest", negative="unittest", category="tool", scope="src")
    second = teach(client, "Always use pytest", negative="unittest", category="tool", scope="src")
    assert (first["outcome"], second["outcome"]) == ("inserted", "unchanged")
    row = Lesson.objects.get()
    assert (row.negative, row.category, row.scope, row.author) == ("unittest", "tool", "src", row.author)
    assert first["lesson"] == {**second["lesson"], "updated_at": first["lesson"]["updated_at"]}  # type: ignore[dict-item,index]


@pytest.mark.sqlite_only
def test_the_source_of_a_lesson_tells_programs_from_people(caller: Caller, embedder: FakeEmbedder) -> None:
    assert teach(caller("owner"), "Deploy on Mondays only")["lesson"]["source"] == "api"  # type: ignore[index]
    assert teach(caller("session"), "Answer in French")["lesson"]["source"] == "user_explicit"  # type: ignore[index]


@pytest.mark.sqlite_only
def test_a_refused_lesson_names_its_rule(caller: Caller, embedder: FakeEmbedder) -> None:
    answer = caller("owner").post("/api/v1/lessons/", {"rule": "x" * 1001}, format="json")
    assert answer.status_code == 422
    assert answer.json()["code"] not in {"", "error"}
    assert answer.json()["detail"]


@pytest.mark.sqlite_only
def test_lessons_come_newest_first_in_pages_that_rows_do_not_shift(
    caller: Caller, embedder: FakeEmbedder
) -> None:
    client = caller("owner")
    words = ["alpha", "bravo", "carbon", "delta", "echo"]
    for word in words:
        teach(client, f"Prefer {word} for {word}")
    page = client.get("/api/v1/lessons/?limit=2").json()
    seen = [row["rule"] for row in page["results"]]
    teach(client, "Prefer foxtrot for foxtrot")
    while page["next"]:
        page = client.get(page["next"]).json()
        seen += [row["rule"] for row in page["results"]]
    assert seen == [f"Prefer {word} for {word}" for word in reversed(words)]


@pytest.mark.sqlite_only
def test_a_guest_workspace_reads_and_writes_its_homes_lessons(
    caller: Caller, alice: User, home: Workspace, embedder: FakeEmbedder
) -> None:
    guest = make_workspace("guest")
    Membership.objects.create(user=alice, workspace=guest, role="member")
    client = caller("owner")
    answer = client.post("/api/v1/lessons/?workspace=guest", {"rule": "Always use pytest"}, format="json")
    assert answer.status_code == 201
    assert Lesson.objects.get().home == home
    assert len(client.get("/api/v1/lessons/?workspace=guest").json()["results"]) == 1


@pytest.mark.sqlite_only
def test_a_search_finds_a_lesson_with_its_citation(caller: Caller, embedder: FakeEmbedder) -> None:
    client = caller("owner")
    teach(client, "Always use pytest")
    found = client.get("/api/v1/memory/search?q=pytest&kinds=lesson").json()
    assert found["hits"][0]["text"].startswith("Always use pytest")
    assert found["hits"][0]["citation"].endswith(f":{Lesson.objects.get().pk}")
    assert client.get("/api/v1/memory/search?q=pytest&kinds=semantic").json()["hits"] == []
    for query in ("", "%20", "(a", "*", "%22", "don't"):
        assert client.get(f"/api/v1/memory/search?q={query}").status_code == 200, query


@pytest.mark.sqlite_only
def test_a_preview_shows_the_packet_and_stores_nothing(caller: Caller, embedder: FakeEmbedder) -> None:
    client = caller("owner")
    teach(client, "Always use pytest")
    packet = client.get("/api/v1/memory/context-preview?q=how+do+I+test").json()
    texts = "\n".join(block["text"] for block in packet["blocks"])
    assert "[Learned corrections]" in texts
    assert "Always use pytest" in texts
    assert Conversation.objects.count() == 0
    small = client.get("/api/v1/memory/context-preview?window=32000").json()
    assert small["ceiling_chars"] < packet["ceiling_chars"]


@pytest.mark.sqlite_only
def test_a_preview_of_a_conversation_is_that_of_its_next_message(
    caller: Caller, alice: User, home: Workspace, embedder: FakeEmbedder
) -> None:
    conversation = make_conversation(alice, home, mode="temporary")
    teach(caller("owner"), "Always use pytest")
    packet = caller("owner").get(f"/api/v1/memory/context-preview?conversation={conversation.pk}").json()
    assert packet["mode"] == "temporary"
    assert "pytest" not in "".join(block["text"] for block in packet["blocks"])


def test_conversations_and_messages_are_listed(caller: Caller, alice: User, home: Workspace) -> None:
    conversation = make_conversation(alice, home, title="First")
    for number in range(3):
        make_message(conversation, f"message {number}", author_label="alice")
    client = caller("owner")
    (row,) = client.get("/api/v1/conversations/").json()["results"]
    assert (row["id"], row["title"], row["workspace"]) == (str(conversation.pk), "First", "default")
    page = client.get(f"/api/v1/conversations/{conversation.pk}/messages/?limit=2").json()
    rest = client.get(page["next"]).json()
    assert [m["content"] for m in page["results"] + rest["results"]] == [f"message {n}" for n in range(3)]
    assert page["results"][0]["author"] == "alice"


def test_listing_takes_the_same_number_of_queries_however_many_there_are(
    caller: Caller, alice: User, home: Workspace, django_assert_max_num_queries: Callable[..., object]
) -> None:
    client = caller("owner")
    for number in range(20):
        make_conversation(alice, home, title=f"{number}")
    client.get("/api/v1/conversations/")
    with django_assert_max_num_queries(4):  # type: ignore[attr-defined]
        client.get("/api/v1/conversations/")


@pytest.mark.sqlite_only
def test_the_status_of_the_embedder_is_told(caller: Caller, embedder: FakeEmbedder) -> None:
    answer = caller("viewer").get("/api/v1/embeddings/status").json()
    assert (answer["model_id"], answer["dim"]) == ("fake", 64)
    assert answer["state"] == "ready"
    assert "index" in answer


def test_a_conversation_is_renamed_pinned_given_a_model_and_archived(
    caller: Caller, alice: User, home: Workspace
) -> None:
    conversation = make_conversation(alice, home, title="First")
    client, path = caller("owner"), f"/api/v1/conversations/{conversation.pk}"
    wanted = {"title": "Harbour", "pinned": True, "model": "memory", "mode": "incognito"}
    row = client.patch(path, wanted, format="json").json()
    assert {name: row[name] for name in wanted} == wanted
    client.patch(path, {"archived": True}, format="json")
    assert client.get("/api/v1/conversations/").json()["results"] == []
    assert client.get(path).json()["pinned"]


def test_a_conversation_is_deleted_for_good_and_the_event_keeps_none_of_its_words(
    caller: Caller, alice: User, home: Workspace
) -> None:
    conversation = make_conversation(alice, home, title="About herons")
    make_message(conversation, "herons are secret")
    path = f"/api/v1/conversations/{conversation.pk}"
    assert caller("operator").delete(path).status_code == 404
    assert caller("owner").delete(path).status_code == 204
    assert caller("owner").delete(path).status_code == 404
    assert not Conversation.objects.exists()
    event = MemoryEvent.objects.get(memory_type="conversation")
    assert (event.source, event.surface, event.actor) == ("api", "api", "alice")
    assert "herons" not in str(event.__dict__)

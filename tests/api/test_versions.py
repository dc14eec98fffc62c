"""Lost updates are refused with nothing overwritten; known rows are not sent again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from rest_framework.test import APIClient

from crewsite.security.models import MemoryEvent
from lessons.models import Lesson
from lessons.services import lesson_write, lessons_applied
from memory.models import EpisodicMemory, PreferencesDocument, SemanticMemory
from memory.services import episodic_write
from tests.factories import EXPLICIT

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from tests.fakes import FakeEmbedder

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]
Caller = Callable[..., APIClient]
FACTS = "/api/v1/memory/semantic/"


def put(client: APIClient, value: Any, **headers: str) -> Any:
    return client.put(FACTS, {"key": "pref.editor", "value": value}, format="json", headers=headers)


def test_of_two_editors_the_second_is_told_and_overwrites_nothing(
    caller: Caller, embedder: FakeEmbedder
) -> None:
    one, two = caller("owner"), caller("member")
    tag = put(one, "vim")["ETag"]
    assert two.get(f"{FACTS}pref.editor")["ETag"] == tag
    assert put(one, "emacs", **{"If-Match": tag}).status_code == 200
    events = MemoryEvent.objects.count()
    late = put(two, "nano", **{"If-Match": tag})
    assert (late.status_code, late.json()["code"]) == (412, "precondition_failed")
    assert SemanticMemory.objects.get().value == "emacs"
    assert SemanticMemory.all_objects.count() == 2
    assert MemoryEvent.objects.count() == events
    fresh = two.get(f"{FACTS}pref.editor")["ETag"]
    assert put(two, "nano", **{"If-Match": fresh}).status_code == 200


def test_a_row_that_must_not_be_there_yet_is_not_replaced(caller: Caller, embedder: FakeEmbedder) -> None:
    client = caller("owner")
    assert put(client, "vim", **{"If-None-Match": "*"}).status_code == 201
    assert put(client, "emacs", **{"If-None-Match": "*"}).status_code == 412
    assert SemanticMemory.objects.get().value == "vim"


def test_a_row_that_must_be_there_is_not_made(caller: Caller, embedder: FakeEmbedder) -> None:
    assert put(caller("owner"), "vim", **{"If-Match": "*"}).status_code == 412
    assert not SemanticMemory.all_objects.exists()


def test_a_known_row_is_not_sent_again(caller: Caller, embedder: FakeEmbedder) -> None:
    client = caller("owner")
    tag = put(client, "vim")["ETag"]
    again = client.get(f"{FACTS}pref.editor", headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag)
    put(client, "emacs")
    assert client.get(f"{FACTS}pref.editor", headers={"If-None-Match": tag}).status_code == 200


def test_a_deletion_of_what_has_changed_is_refused(
    caller: Caller, home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    client, stale = caller("owner"), {"If-Match": '"0123456789abcdef0123456789abcdef"'}
    put(client, "vim")
    episode = episodic_write(home=home, text="Alice moved away.", origin=EXPLICIT, author=alice).row
    lesson = lesson_write(home=home, rule="Always use pytest", origin=EXPLICIT, author=alice).row
    assert episode
    assert lesson
    for path in (
        f"{FACTS}pref.editor",
        f"/api/v1/memory/episodic/{episode.pk}",
        f"/api/v1/lessons/{lesson.pk}",
    ):
        assert client.delete(path, headers=stale).status_code == 412, path
        tag = client.get(path)["ETag"]
        assert client.delete(path, headers={"If-Match": f'"x", {tag}'}).status_code == 204, path
        assert client.get(path).status_code == 404
    assert EpisodicMemory.all_objects.get().deleted_reason == "deleted"


def test_documents_are_guarded_too(caller: Caller) -> None:
    client, url = caller("owner"), "/api/v1/memory/preferences"
    empty = client.get(url)
    assert (empty.json()["version"], empty.json()["text"]) == (0, "")
    first = client.put(url, {"text": "- tea"}, format="json", headers={"If-Match": '"x"'})
    assert first.status_code == 412
    first = client.put(url, {"text": "- tea"}, format="json")
    tag = first["ETag"]
    assert client.get(url)["ETag"] == tag
    client.put(url, {"text": "- coffee"}, format="json", headers={"If-Match": tag})
    late = client.put(url, {"text": "- water"}, format="json", headers={"If-Match": tag})
    assert late.status_code == 412
    assert PreferencesDocument.objects.get(replaced_at__isnull=True).text == "- coffee"
    told = client.get(url).json()
    assert [row["version"] for row in told["versions"]] == [2, 1]
    assert client.get(f"{url}?version=1").json()["text"] == "- tea"
    assert client.get(f"{url}?version=9").status_code == 404


def test_a_lessons_count_of_uses_is_no_change_of_the_lesson(
    caller: Caller, home: Workspace, embedder: FakeEmbedder
) -> None:
    lesson = lesson_write(home=home, rule="Always use pytest", origin=EXPLICIT).row
    assert lesson
    client, url = caller("session"), f"/api/v1/lessons/{lesson.pk}"
    tag = client.get(url)["ETag"]
    lessons_applied(ids={lesson.pk})
    edited = client.patch(url, {"negative": "unittest"}, format="json", headers={"If-Match": tag})
    assert edited.status_code == 200
    late = client.patch(url, {"negative": "nose"}, format="json", headers={"If-Match": tag})
    assert late.status_code == 412
    assert Lesson.objects.get().negative == "unittest"


def test_a_conversation_is_renamed_once_for_one_tag(caller: Caller) -> None:
    client = caller("owner")
    made = client.post("/api/v1/conversations/", {"title": "Harbour"}, format="json")
    url, tag = made["Location"], made["ETag"]
    assert client.patch(url, {"title": "Port"}, format="json", headers={"If-Match": tag}).status_code == 200
    assert client.patch(url, {"title": "Quay"}, format="json", headers={"If-Match": tag}).status_code == 412
    assert client.get(url).json()["title"] == "Port"

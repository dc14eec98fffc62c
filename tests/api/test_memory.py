"""Every layer over HTTP: what is written is read, found, changed and deleted again."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from constance import config
from django.utils import timezone
from rest_framework.test import APIClient

from crewsite.accounts.models import ApiToken, Membership, Workspace
from crewsite.accounts.services import token_create
from crewsite.jobs.models import Job
from lessons.models import Lesson
from memory.models import EpisodicMemory, HistoryEntry, PreferencesDocument, SemanticMemory
from memory.services import document_replace, history_append, semantic_write
from tests.factories import CONSOLIDATION, EXPLICIT, make_workspace

if TYPE_CHECKING:
    from crewsite.accounts.models import User
    from tests.fakes import FakeEmbedder

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]
Caller = Callable[..., APIClient]
FACTS, EPISODES, LESSONS = "/api/v1/memory/semantic/", "/api/v1/memory/episodic/", "/api/v1/lessons/"


def put(client: APIClient, key: str, value: Any, **fields: Any) -> Any:
    return client.put(FACTS, {"key": key, "value": value, **fields}, format="json")


def found(answer: Any, field: str) -> list[Any]:
    assert answer.status_code == 200, answer.content
    return [row[field] for row in answer.json()["results"]]


def test_facts_are_made_changed_listed_and_deleted(caller: Caller, embedder: FakeEmbedder) -> None:
    client = caller("session")
    assert put(client, "pref.editor", "vim").status_code == 201
    changed = put(client, "pref.editor", {"name": "emacs"})
    assert (changed.status_code, changed.json()["outcome"]) == (200, "updated")
    assert put(client, "pref.editor", {"name": "emacs"}).json()["outcome"] == "unchanged"
    put(client, "project.site", "即适者生存 in Köln")
    assert found(client.get(FACTS), "key") == ["project.site", "pref.editor"]
    assert found(client.get(f"{FACTS}?prefix=pref."), "key") == ["pref.editor"]
    assert found(client.get(f"{FACTS}?source=api"), "key") == []
    for said in ("EMACS", "适者", "köln", "Köln", "pref.ed"):
        assert found(client.get(FACTS, {"q": said}), "key") != [], said
    assert client.delete(f"{FACTS}pref.editor").status_code == 204
    assert client.get(f"{FACTS}pref.editor").status_code == 404
    assert SemanticMemory.all_objects.filter(is_deleted=True).count() == 2


def test_a_refused_fact_names_its_rule_and_confidence_decides(caller: Caller, embedder: FakeEmbedder) -> None:
    program, person = caller("owner"), caller("session")
    for key in ("Pref.x", "pref.", "pref..x", "secret.x", "p" * 101):
        answer = put(person, key, 1)
        assert answer.status_code == 422, key
        assert answer.json()["detail"]
    assert put(program, "pref.a", 1, confidence=0.79).json()["code"] == "low_confidence"
    assert put(program, "pref.a", 1, confidence=0.8).status_code == 201
    assert put(person, "pref.a", 2, confidence=0.75).status_code == 200
    assert put(program, "pref.a", 3, confidence=0.99).json()["code"] == "conflict_skip"


def test_episodes_are_stored_once_listed_and_searched(caller: Caller, embedder: FakeEmbedder) -> None:
    client = caller("owner")
    text = "The ticket ZX81-QT was closed by Marta."
    body = {"text": text, "tags": ["Ops", "not a tag!"], "importance": 0.9}
    made = client.post(EPISODES, body, format="json").json()
    assert (made["outcome"], made["episode"]["tags"], made["dropped_tags"]) == (
        "stored",
        ["ops"],
        ["not a tag!"],
    )
    again = client.post(EPISODES, {"text": text.upper()}, format="json")
    assert (again.status_code, again.json()["outcome"]) == (200, "deduped")
    for number in range(4):
        client.post(EPISODES, {"text": f"Alice saw {number} cranes in harbour {number}."}, format="json")
    assert len(found(client.get(f"{EPISODES}?limit=2"), "id")) == 2
    assert found(client.get(f"{EPISODES}?tag=ops"), "id") == [made["episode"]["id"]]
    assert found(client.get(EPISODES, {"q": "zx81"}), "id") == [made["episode"]["id"]]
    hits = client.get(f"{EPISODES}search?q=ZX81-QT").json()["hits"]
    assert hits[0]["episode"]["text"] == text
    assert hits[0]["citation"] == f"epi:{made['episode']['id']}"
    assert "keyword" in hits[0]["legs"]
    assert hits[0]["score"] > 0
    for query in ("", "%20", "(a", "*", "%22", "don't", "status:%20done"):
        assert client.get(f"{EPISODES}search?q={query}").status_code == 200, query
    assert client.get(f"{EPISODES}search?q=x&mode=magic").status_code == 400


def test_documents_are_replaced_by_people_and_kept(
    caller: Caller, home: Workspace, embedder: FakeEmbedder
) -> None:
    url = "/api/v1/memory/projects"
    assert caller("owner").put(url, {"text": ""}, format="json").status_code == 422
    assert (
        caller("session").put(url, {"text": "- the harbour\n"}, format="json").json()["outcome"] == "replaced"
    )
    assert caller("viewer").get(url).json()["text"] == "- the harbour"


def test_history_is_read_since_a_day(caller: Caller, home: Workspace) -> None:
    now = timezone.now()
    for days in (0, 3, 40):
        at = now - timedelta(days=days)
        history_append(workspace=home, title=f"{days} ago", text="x", at=at, origin=EXPLICIT)
    client, url = caller("viewer"), "/api/v1/memory/history"
    assert found(client.get(url), "title") == ["0 ago", "3 ago", "40 ago"]
    since = (now - timedelta(days=5)).date().isoformat()
    page = client.get(f"{url}?since={since}&limit=1").json()
    assert page["results"][0]["title"] == "0 ago"
    assert found(client.get(page["next"]), "title") == ["3 ago"]
    assert HistoryEntry.objects.count() == 3


def test_memory_as_of_a_moment_tells_what_stood_then(
    caller: Caller, home: Workspace, embedder: FakeEmbedder
) -> None:
    now = timezone.now()
    for value, days in (("vim", 20), ("emacs", 5)):
        semantic_write(
            home=home, key="pref.editor", value=value, origin=EXPLICIT, now=now - timedelta(days=days)
        )
    client, url = caller("viewer"), "/api/v1/memory/as-of"
    then = (now - timedelta(days=10)).date().isoformat()
    (row,) = client.get(f"{url}?moment={then}").json()["rows"]
    assert (row["text"], row["until"] is None) == ("pref.editor: vim", False)
    assert client.get(f"{url}?moment=1999-01-01").json()["rows"] == []
    assert "moment" in client.get(f"{url}?moment=yesterday").json()["errors"]


def test_events_are_filtered_paged_and_exported_for_owners(
    caller: Caller, home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    client = caller("owner")
    put(client, "pref.editor", "vim")
    put(client, "pref.editor", "emacs")
    put(client, "secret.x", 1)
    url = "/api/v1/memory/events"
    assert found(client.get(url), "event") == ["refused", "update", "create"]
    assert found(client.get(f"{url}?event=update&kind=semantic"), "old_value") == ["vim"]
    assert found(client.get(f"{url}?actor=bob"), "id") == []
    assert found(client.get(url, {"until": "2020-01-01T00:00:00Z"}), "id") == []
    export = client.get(f"{url}/export?kind=semantic")
    lines = [json.loads(line) for line in export.content.decode().splitlines()]
    assert [line["event"] for line in lines] == ["create", "update", "refused"]
    assert export["Content-Type"] == "application/x-ndjson"
    assert "attachment" in export["Content-Disposition"]


def test_a_guest_reads_no_events_of_its_homes_own_documents(
    caller: Caller, home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    guest = make_workspace("guest")
    Membership.objects.create(user=alice, workspace=guest, role="owner")
    document_replace(model=PreferencesDocument, workspace=home, text="- private", origin=EXPLICIT)
    semantic_write(home=home, key="pref.a", value=1, origin=EXPLICIT)
    told = caller("owner").get("/api/v1/memory/events?workspace=guest")
    assert found(told, "kind") == ["semantic"]
    assert b"private" not in caller("owner").get("/api/v1/memory/events/export?workspace=guest").content


def test_stats_count_layers_and_caps(caller: Caller, home: Workspace, embedder: FakeEmbedder) -> None:
    client = caller("owner")
    put(client, "pref.a", 1)
    client.post(LESSONS, {"rule": "Always use pytest"}, format="json")
    document_replace(model=PreferencesDocument, workspace=home, text="- tea", origin=EXPLICIT)
    stats = caller("viewer").get("/api/v1/memory/stats").json()
    assert {name: row["live"] for name, row in stats["layers"].items()} == {
        "preferences": 1,
        "projects": 0,
        "history": 0,
        "semantic": 1,
        "episodic": 0,
        "lesson": 1,
    }
    assert stats["caps"]["preferences"] == {"used": 5, "cap": 4290, "unit": "chars"}
    assert stats["caps"]["episodic"]["cap"] == 10_000
    assert stats["embedder"]["state"] == "ready"
    assert "documents" in stats["index"]


def test_live_settings_of_memory_change_at_once(caller: Caller, home: Workspace) -> None:
    client, url = caller("operator", scopes=["read", "write", "admin"]), "/api/v1/memory/settings"
    assert client.get(url).json()["EPISODIC_MAX_ROWS"] == 10_000
    changed = client.put(url, {"EPISODIC_MAX_ROWS": 7}, format="json").json()
    assert changed["EPISODIC_MAX_ROWS"] == config.EPISODIC_MAX_ROWS == 7
    assert client.get("/api/v1/memory/stats").json()["caps"]["episodic"]["cap"] == 7
    for wrong in ({"EPISODIC_MAX_ROWS": "many"}, {"LLM_SMOL_MODEL": "x"}, {"HISTORY_MAX_DAYS": -1}):
        assert client.put(url, wrong, format="json").status_code == 400, wrong


def test_an_installation_is_started_once_and_adopted(caller: Caller, settings: Any) -> None:
    settings.CREW_SKIP_MODEL_DOWNLOAD = False
    client = caller("operator", scopes=["read", "write", "admin"])
    one, two = (client.post("/api/v1/embeddings/install") for _ in range(2))
    assert (one.status_code, two.status_code) == (202, 202)
    assert one.json()["job"] == two.json()["job"] == Job.objects.get(kind="model_install").pk
    status = client.get("/api/v1/embeddings/status").json()
    assert (status["install"]["job"], status["install"]["state"]) == (one.json()["job"], "queued")


def test_a_switch_to_another_model_is_started_and_told(caller: Caller, settings: Any, tmp_path: Path) -> None:
    settings.CREW_EMBED_MODEL_PATH = settings.CREW_EMBED_BASE_URL = ""
    client, url = caller("operator", scopes=["read", "write", "admin"]), "/api/v1/embeddings/model"
    for missing in ("/nowhere.gguf", "~nobody/x", "x" * 1_000):
        answer = client.post(url, {"model": missing}, format="json")
        assert (answer.status_code, answer.json()["code"]) == (422, "model_missing"), missing
    file = tmp_path / "other.gguf"
    file.touch()
    made = client.post(url, {"model": str(file)}, format="json")
    assert (made.status_code, made.json()["state"]) == (202, "queued")
    assert made.json()["job"] == Job.objects.get(kind="model_switch").pk
    again = client.post(url, {"model": str(file)}, format="json")
    assert (again.status_code, again.json()["code"]) == (409, "switch_running")
    assert caller("viewer").get("/api/v1/embeddings/status").json()["switch"] == made.json()


def test_a_lesson_is_edited_pinned_and_removed_by_its_text(caller: Caller, embedder: FakeEmbedder) -> None:
    person = caller("session")
    lesson = person.post(LESSONS, {"rule": "Always use pytest"}, format="json").json()["lesson"]
    url = f"{LESSONS}{lesson['id']}"
    assert person.patch(url, {"negative": "unittest"}, format="json").json()["negative"] == "unittest"
    assert person.patch(url, {"colour": 1}, format="json").status_code == 400
    program = caller("owner")
    assert program.patch(url, {"pinned": True}, format="json").json()["pinned"] is True
    reworded = program.patch(url, {"rule": "Never use pytest"}, format="json")
    assert (reworded.status_code, reworded.json()["code"]) == (422, "explicit_wins")
    other = person.post(LESSONS, {"rule": "Answer in French"}, format="json").json()["lesson"]
    twin = person.patch(f"{LESSONS}{other['id']}", {"rule": "always use PYTEST"}, format="json")
    assert (twin.status_code, twin.json()["code"]) == (409, "duplicate")
    assert found(person.get(f"{LESSONS}?pinned=true"), "id") == [lesson["id"]]
    several = person.post(f"{LESSONS}remove?q=e").json()
    assert (several["removed"], len(several["candidates"])) == ([], 2)
    gone = person.post(f"{LESSONS}remove?q=french").json()
    assert [row["id"] for row in gone["removed"]] == [other["id"]]
    assert person.delete(url).status_code == 204
    assert not Lesson.objects.exists()


def test_a_member_removes_nothing_of_several_when_one_is_anothers(
    caller: Caller, embedder: FakeEmbedder
) -> None:
    caller("owner").post(LESSONS, {"rule": "Always use pytest"}, format="json")
    caller("member").post(LESSONS, {"rule": "Name tests as claims"}, format="json")
    assert caller("member").post(f"{LESSONS}remove?q=tests").json()["removed"] != []
    caller("member").post(LESSONS, {"rule": "Name tests as claims"}, format="json")
    refused = caller("member").post(f"{LESSONS}remove?q=test&all=true")
    assert (refused.status_code, refused.json()["code"]) == (403, "not_author")
    assert Lesson.objects.count() == 2


def test_tokens_are_shown_once_listed_and_revoked(caller: Caller, alice: User, home: Workspace) -> None:
    url, session = "/api/v1/security/tokens/", caller("session")
    made = session.post(url, {"name": "laptop", "scopes": ["read"]}, format="json").json()
    assert made["token"].startswith(made["key"])
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {made['token']}")
    listed = client.get(url)
    assert found(listed, "name") == ["laptop"]
    assert made["token"] not in listed.content.decode()
    assert session.post(url, {"name": "laptop"}, format="json").status_code == 422
    assert session.delete(f"{url}{made['key']}").status_code == 204
    assert client.get(url).status_code == 401


def test_a_token_makes_none_that_may_more_than_itself(alice: User, home: Workspace) -> None:
    url = "/api/v1/security/tokens/"
    _, text = token_create(user=alice, name="narrow", workspace=home, scopes=["write", "admin"])
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert client.post(url, {"name": "wide", "scopes": ["read"]}, format="json").status_code == 403
    made = client.post(url, {"name": "same", "scopes": ["write"]}, format="json").json()
    assert made["workspace"] == "default"
    _, text = token_create(user=alice, name="plain")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert client.post(url, {"name": "again"}, format="json").status_code == 403
    assert ApiToken.objects.count() == 3


def test_conversations_are_begun_and_archived(caller: Caller) -> None:
    client, url = caller("owner"), "/api/v1/conversations/"
    made = client.post(url, {"title": "Harbour", "mode": "incognito"}, format="json")
    assert (made.status_code, made.json()["surface"], made.json()["mode"]) == (201, "api", "incognito")
    assert found(client.get(url), "title") == ["Harbour"]
    assert client.patch(made["Location"], {"archived": True}, format="json").status_code == 200
    assert found(client.get(url), "title") == []
    assert client.patch(made["Location"], {"archived": False}, format="json").status_code == 200
    assert found(client.get(url), "title") == ["Harbour"]


def test_lists_cost_the_same_for_fifty_as_for_one(
    caller: Caller, home: Workspace, embedder: FakeEmbedder, django_assert_num_queries: Any
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client = caller("owner")
    put(client, "pref.a", 1)
    client.post(EPISODES, {"text": "Alice saw the harbour."}, format="json")
    for url in (FACTS, EPISODES):
        client.get(url)
    SemanticMemory.objects.bulk_create(
        SemanticMemory(home=home, key=f"pref.n{n}", value=n, source="api") for n in range(49)
    )
    EpisodicMemory.objects.bulk_create(
        EpisodicMemory(home=home, text=f"text {n}", folded_hash=str(n), source="api") for n in range(49)
    )
    for url in (FACTS, EPISODES):
        with CaptureQueriesContext(connection) as one:
            client.get(f"{url}?limit=1")
        with django_assert_num_queries(len(one)):
            assert len(found(client.get(url), "id")) == 50
    semantic_write(home=home, key="pref.z", value=1, origin=CONSOLIDATION)

"""Liveness asks nothing, readiness asks everything and never breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.core.cache import cache
from django.db import DatabaseError

from crewsite.api import health
from crewsite.embeddings.service import EmbedderStatus
from crewsite.jobs.services import heartbeat_put

if TYPE_CHECKING:
    from django.test import Client


@pytest.fixture(autouse=True)
def _no_kept_answer() -> None:
    cache.clear()


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the parts of the site say of themselves; a test changes an entry, or makes it an exception."""
    said: dict[str, Any] = {
        "embedder": EmbedderStatus("ready", "minilm", 384),
        "index": {"state": "ready", "degraded": []},
        "llm": {"provider": "endpoint", "model": "m", "state": "ready"},
    }

    def say(name: str) -> Any:
        if isinstance(said[name], Exception):
            raise said[name]
        return said[name]

    monkeypatch.setattr("crewsite.embeddings.service.embedder_status", lambda: say("embedder"))
    monkeypatch.setattr("crewsite.search.service.search_status", lambda: say("index"))
    monkeypatch.setattr("crewsite.llm.providers.llm_status", lambda: say("llm"))
    return said


def test_live_answers_without_a_database(client: Client) -> None:
    """Without the `db` mark any query would be refused by the test run."""
    answer = client.get("/api/v1/health/live")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
def test_a_whole_site_is_not_degraded(client: Client, parts: dict[str, Any]) -> None:
    heartbeat_put(name="worker")
    report = health.readiness()
    assert report["degraded"] == []
    assert report["embedder"] == {"state": "ready", "model_id": "minilm", "dim": 384, "error": ""}
    assert set(report) == {"embedder", "index", "database", "llm", "worker", "degraded"}
    answer = client.get("/api/v1/health/ready")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("part", "says", "code"),
    [
        ("embedder", EmbedderStatus("absent", "", 0), "embedder_unavailable"),
        ("embedder", EmbedderStatus("failed", "minilm", 384, "broken file"), "embedder_unavailable"),
        ("embedder", EmbedderStatus("loading", "minilm", 384), "embedder_loading"),
        ("index", {"state": "behind", "degraded": ["index_behind"]}, "index_behind"),
        ("llm", {"state": "absent"}, "llm_not_configured"),
        ("llm", {"state": "failing"}, "llm_unreachable"),
    ],
)
def test_each_part_is_named_when_it_is_not_well(
    client: Client, parts: dict[str, Any], part: str, says: Any, code: str
) -> None:
    heartbeat_put(name="worker")
    parts[part] = says
    assert health.readiness()["degraded"] == [code]
    answer = client.get("/api/v1/health/ready")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["degraded"]) == ("degraded", [code])


@pytest.mark.django_db
def test_a_site_without_a_worker_says_so(parts: dict[str, Any]) -> None:
    report = health.readiness()
    assert report["worker"]["state"] == "absent"
    assert report["degraded"] == ["worker_absent"]


@pytest.mark.django_db
@pytest.mark.parametrize("part", ["embedder", "index", "llm"])
def test_a_part_that_cannot_be_asked_breaks_no_answer(
    client: Client, parts: dict[str, Any], part: str
) -> None:
    parts[part] = RuntimeError("/home/crew/secret")
    report = health.readiness()
    assert report[part]["state"] == "failed"
    assert client.get("/api/v1/health/ready").status_code == 200
    assert "secret" not in client.get("/api/v1/health/ready").content.decode()


@pytest.mark.django_db
def test_without_a_database_the_site_is_not_ready(
    client: Client, parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*args: object, **kwargs: object) -> None:
        raise DatabaseError("no such host")

    monkeypatch.setattr("django.db.backends.base.base.BaseDatabaseWrapper.cursor", away)
    answer = client.get("/api/v1/health/ready")
    assert answer.status_code == 503
    assert answer.json()["degraded"] == ["database_unavailable"]
    assert answer.json()["database"] == "unavailable"


@pytest.mark.django_db
def test_many_questions_at_once_are_answered_from_one(client: Client, parts: dict[str, Any]) -> None:
    assert client.get("/api/v1/health/ready").json()["embedder"] == "ready"
    parts["embedder"] = EmbedderStatus("loading", "minilm", 384)
    assert client.get("/api/v1/health/ready").json()["embedder"] == "ready"
    assert health.readiness()["embedder"]["state"] == "loading"

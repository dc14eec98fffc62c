from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test import override_settings

from crewsite.embeddings.models import Vector
from crewsite.embeddings.service import reset, set_backend
from crewsite.jobs.leases import lease_acquire, lease_release
from crewsite.jobs.models import Job
from crewsite.search import reconcile as reconcile_module
from crewsite.search.models import Document
from crewsite.search.reconcile import reconcile
from crewsite.search.service import candidates, document_delete, search_status
from crewsite.search.tasks import embeddings_backfill, search_reconcile, worker_started
from tests.fakes import FakeEmbedder
from tests.search.conftest import put

pytestmark = pytest.mark.django_db
HOME = "shelf:1"
ROWS: dict[int, str] = {}


class ShelfKind:
    """A kind whose rows are a dict."""

    name, prefix = "shelf", "she"

    def documents(self, after_id: int, limit: int) -> list[tuple[int, str, str]]:
        return [(pk, HOME, ROWS[pk]) for pk in sorted(ROWS) if pk > after_id][:limit]

    def count(self) -> int:
        return len(ROWS)

    def recall(self, *, query: str, workspace_id: int, limit: int, asker: Any = None) -> list[Any]:
        return []


@pytest.fixture(autouse=True)
def shelf():
    ROWS.clear()
    ROWS.update({i: f"book {i} about birds" for i in range(1, 8)})
    with override_settings(SEARCH_KINDS=["tests.search.test_reconcile.ShelfKind"]):
        yield
    reset()


def found(query: str) -> list[int]:
    return sorted(
        hit.object_id for hit in candidates(collection=HOME, query=query, k=50, mode="keyword").hits
    )


def test_rows_that_are_in_no_index_are_put_in() -> None:
    done = reconcile()
    assert (done.put, done.removed, done.rebuilt) == (7, 0, False)
    assert found("birds") == list(range(1, 8))
    assert reconcile().put == 0


def test_documents_without_a_row_are_taken_out() -> None:
    put("other:1", {50: "no business of this kind"}, embed=False)
    reconcile()
    del ROWS[3], ROWS[4]
    assert reconcile().removed == 2
    assert found("birds") == [1, 2, 5, 6, 7]
    assert Document.objects.filter(collection="other:1").exists()


def test_a_stale_text_is_put_right_when_forced() -> None:
    reconcile()
    ROWS[2] = "book 2 about ships"
    assert reconcile().put == 0
    assert reconcile(force=True).put == 1
    assert found("ships") == [2]
    assert 2 not in found("birds")


def test_pages_are_gone_through_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconcile_module, "RECONCILE_BATCH", 2)
    assert reconcile().put == 7


@pytest.mark.sqlite_only
def test_keyword_rows_out_of_step_are_made_anew() -> None:
    reconcile()
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO search_words(search_words) VALUES ('delete-all')")
    assert search_status()["degraded"][-1] == "keyword_index_behind"
    assert search_reconcile() == {"put": 0, "removed": 0, "rebuilt": True}
    assert found("birds") == list(range(1, 8))


def test_only_one_process_reconciles_at_a_time() -> None:
    lease = lease_acquire("search_reconcile", seconds=60)
    assert lease is not None
    assert "skipped" in search_reconcile()
    lease_release(lease)
    assert search_reconcile()["put"] == 7


def test_the_backfill_embeds_what_has_no_vector_and_reports(embedder: FakeEmbedder) -> None:
    put(HOME, dict(list(ROWS.items())[:3]))
    put(HOME, dict(list(ROWS.items())[3:]), embed=False)
    assert embeddings_backfill() == {"missing": 4, "embedded": 4}
    assert search_status()["state"] == "ready"
    job = Job.objects.get()
    assert (job.kind, job.state, job.done, job.total) == ("embeddings_backfill", Job.State.DONE, 4, 4)
    assert embeddings_backfill() == {"missing": 0, "embedded": 0}
    assert Job.objects.count() == 1


def test_the_backfill_goes_on_past_texts_it_cannot_embed(
    embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crewsite.search.backfill.BACKFILL_BATCH", 2)
    put(HOME, {1: "...", 2: "one", 3: "two", 4: "!!!", 5: "three"}, embed=False)
    assert embeddings_backfill() == {"missing": 5, "embedded": 3}
    assert search_status()["lag"] == 2


def test_a_text_changed_while_it_is_embedded_keeps_no_old_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    class ChangingEmbedder(FakeEmbedder):
        def embed_batch(self, texts: Any, kind: str = "document") -> Any:
            if "old" in texts:
                put(HOME, {1: "new"}, embed=False)
                with transaction.atomic():
                    document_delete(collection=HOME, object_id=2)
            return super().embed_batch(texts, kind)

    set_backend(ChangingEmbedder)
    put(HOME, {1: "old", 2: "gone", 3: "kept"}, embed=False)
    embeddings_backfill()
    assert list(Vector.objects.filter(data__isnull=False).values_list("object_id", flat=True)) == [3]
    embeddings_backfill()
    assert sorted(Vector.objects.filter(data__isnull=False).values_list("object_id", flat=True)) == [1, 3]


def test_only_one_process_backfills_at_a_time(embedder: FakeEmbedder) -> None:
    put(HOME, ROWS, embed=False)
    assert lease_acquire("embeddings_backfill", seconds=60) is not None
    assert "skipped" in embeddings_backfill()
    assert not Vector.objects.exists()


def test_a_starting_worker_queues_both_looks(django_capture_on_commit_callbacks: Any) -> None:
    from django_q.models import OrmQ

    with django_capture_on_commit_callbacks(execute=True):
        worker_started()
    assert OrmQ.objects.count() == 2


def test_the_command_reports_fills_and_rebuilds(embedder: FakeEmbedder) -> None:
    def run(action: str) -> str:
        out = StringIO()
        call_command("embeddings", *action.split(), "--json", stdout=out, stderr=StringIO())
        return out.getvalue()

    assert '"put": 7' in run("rebuild")
    assert '"lag": 7' in run("status")
    assert '"embedded": 7' in run("backfill")
    assert '"lag": 0' in run("status")
    again = json.loads(run("rebuild --vectors"))
    assert (again["put"], again["outdated"], again["embedded"]) == (0, 7, 7)

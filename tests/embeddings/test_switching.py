"""Changing the embedding model: the old one serves until the new one's vectors are there, and after any
failure."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from crewsite.embeddings.errors import ModelUnusable, SwitchConflict
from crewsite.embeddings.models import Space, Vector
from crewsite.embeddings.selection import backend_of, chosen_path, compact_path
from crewsite.embeddings.service import adopt, embed_documents, get_embedder, reset
from crewsite.embeddings.services import model_check, model_use
from crewsite.embeddings.spaces import active_space
from crewsite.embeddings.switching import model_switch
from crewsite.jobs.leases import leased
from crewsite.jobs.models import Job
from crewsite.jobs.services import job_cancel, job_progress
from crewsite.search.service import candidates, document_delete, documents_put_many
from crewsite.search.vector_index.registry import forget_all
from tests.tiny_embedder import tiny_embedder

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite_only]

TEXTS = {
    1: "the cat sleeps on the sofa",
    2: "the server listens on port 8000",
    3: "tea is made with hot water",
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return tiny_embedder(tmp_path / "small-768.gguf")


@pytest.fixture(autouse=True)
def site(settings: Any, tmp_path: Path, compact_model: Path) -> Iterator[None]:
    """A home with the compact model, and three texts embedded by it."""
    settings.CREW_HOME = tmp_path / "home"
    settings.CREW_EMBED_MODEL_PATH = settings.CREW_EMBED_BASE_URL = ""
    compact_path().parent.mkdir(parents=True)
    shutil.copy(compact_model, compact_path())
    reset()
    forget_all()
    assert get_embedder().wait_ready(60)
    put(TEXTS)
    yield
    reset()
    forget_all()


def put(texts: dict[int, str]) -> None:
    made = embed_documents(list(texts.values()))
    with transaction.atomic():
        documents_put_many(
            collection="episodic:1",
            items=[(pk, text, vector) for (pk, text), vector in zip(texts.items(), made, strict=True)],
        )


def at_first_batch(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let something happen between storing the first batch and reporting it."""
    acted: list[object] = []

    def report(job: Job, **told: Any) -> None:
        if told["total"] and not acted:
            acted.append(act())
        job_progress(job, **told)

    monkeypatch.setattr("crewsite.embeddings.switching.job_progress", report)


def vectors_of(space: Space | None) -> set[int]:
    assert space is not None
    return set(Vector.objects.filter(space=space, data__isnull=False).values_list("object_id", flat=True))


def test_a_switch_fills_the_new_space_and_retires_the_old_one(small: Path) -> None:
    old = active_space()
    result = model_switch(str(small))
    new = active_space()
    assert new is not None
    assert old is not None
    assert (new.model_id, new.dim, new.status) == ("small-768", 768, "active")
    assert result["embedded"] == 3
    assert vectors_of(new) == {1, 2, 3}
    old.refresh_from_db()
    assert old.status == "retired"
    assert get_embedder().model_id == "small-768"
    found = candidates(collection="episodic:1", query="cat sofa", k=3)
    assert (found.rung, found.degraded) == ("faiss", ())
    job = Job.objects.get()
    assert (job.state, job.done, job.total, job.message) == ("done", 3, 3, "3 of 3 texts embedded")


def test_a_process_that_starts_later_runs_the_chosen_model(small: Path) -> None:
    model_switch(str(small))
    reset()
    assert get_embedder().wait_ready(60)
    assert get_embedder().model_id == "small-768"


def test_a_process_that_runs_the_old_model_takes_up_the_chosen_one(small: Path) -> None:
    model_switch(str(small))
    behind = backend_of(compact_path())
    assert behind.wait_ready(60)
    adopt(behind)
    found = candidates(collection="episodic:1", query="cat sofa", k=3)
    assert [hit.object_id for hit in found.hits][:1] == [1]  # by its words, while the model loads
    assert active_space().model_id == "small-768"  # type: ignore[union-attr]
    assert get_embedder().wait_ready(60)
    assert candidates(collection="episodic:1", query="cat sofa", k=3).rung == "faiss"


def test_going_back_to_compact_embeds_only_what_is_new(small: Path) -> None:
    model_switch(str(small))
    put({4: "a fourth text"})
    assert model_switch("compact")["embedded"] == 1
    assert chosen_path() == compact_path()
    assert vectors_of(active_space()) == {1, 2, 3, 4}


def test_what_is_deleted_or_written_during_the_switch_is_right_after_it(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def writes() -> None:
        put({5: "written while the switch ran"})
        with transaction.atomic():
            document_delete(collection="episodic:1", object_id=1)

    at_first_batch(monkeypatch, writes)
    model_switch(str(small))
    assert vectors_of(active_space()) == {2, 3, 5}


@pytest.mark.parametrize("damage", ["half", "other", "empty"])
def test_a_damaged_file_leaves_the_old_model_in_force(small: Path, damage: str) -> None:
    whole = small.read_bytes()
    small.write_bytes({"half": whole[: len(whole) // 2], "other": b"no model at all", "empty": b""}[damage])
    with pytest.raises(ModelUnusable):
        model_switch(str(small))
    assert active_space().model_id == "minilm-l6-v2"  # type: ignore[union-attr]
    assert chosen_path() == compact_path()
    assert Job.objects.get().state == "failed"
    assert candidates(collection="episodic:1", query="cat sofa", k=3).rung == "faiss"


def test_a_cancelled_switch_leaves_the_old_model_and_goes_on_from_there_later(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_first_batch(monkeypatch, lambda: job_cancel(Job.objects.get()))
    assert model_switch(str(small)) == {"skipped": "it was cancelled"}
    assert active_space().model_id == "minilm-l6-v2"  # type: ignore[union-attr]
    assert Space.objects.get(model_id="small-768").status == "retired"
    assert model_switch(str(small))["embedded"] == 0
    assert vectors_of(active_space()) == {1, 2, 3}


def test_only_one_switch_runs(small: Path) -> None:
    model_use(model=str(small))
    with pytest.raises(SwitchConflict) as refused:
        model_use(model="compact")
    assert refused.value.code == "switch_running"
    with leased("embeddings_model_switch", 60), pytest.raises(SwitchConflict):
        model_switch(str(small))


def test_a_model_the_environment_names_is_not_switched(small: Path, settings: Any) -> None:
    settings.CREW_EMBED_MODEL_PATH = str(compact_path())
    with pytest.raises(SwitchConflict, match="CREW_EMBED_MODEL_PATH") as refused:
        model_use(model=str(small))
    assert refused.value.code == "model_pinned"


def test_a_file_is_checked_without_being_used(small: Path) -> None:
    found = model_check(model=str(small))
    assert (found.model_id, found.dim, found.size_bytes) == ("small-768", 768, small.stat().st_size)
    assert chosen_path() == compact_path()
    with pytest.raises(ModelUnusable, match="There is no"):
        model_check(model="/nowhere.gguf")
    with pytest.raises(ModelUnusable, match=r"qwen3-embedding-0\.6b\.gguf"):
        model_check(model="qwen3-embedding-0.6b")

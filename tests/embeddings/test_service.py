from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crewsite.embeddings import failures, service
from crewsite.embeddings.constants import CACHE_ENTRIES
from tests.fakes import FakeEmbedder

if TYPE_CHECKING:
    import numpy as np


class CountingEmbedder(FakeEmbedder):
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.closed = False
        self.broken: Exception | None = None

    def embed(self, text: str, kind: str = "document") -> np.ndarray | None:
        self.texts.append(text)
        if self.broken:
            raise self.broken
        return super().embed(text, kind)

    def embed_batch(self, texts: Sequence[str], kind: str = "document") -> list[np.ndarray | None]:
        return [self.embed(text, kind) for text in texts]

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def counting() -> Iterator[CountingEmbedder]:
    backend = CountingEmbedder()
    service.set_backend(lambda: backend)
    failures.failure_clear()
    yield backend
    service.reset()


@pytest.fixture
def unconfigured(settings: Any, tmp_path: Path) -> Iterator[Any]:
    settings.CREW_HOME = tmp_path
    settings.CREW_EMBED_MODEL_PATH = settings.CREW_EMBED_BASE_URL = ""
    service.reset()
    yield settings
    service.reset()


def test_a_question_asked_twice_is_embedded_once(counting: CountingEmbedder) -> None:
    first = service.embed_query("where are the keys")
    again = service.embed_query("where are the keys")
    assert counting.texts == ["where are the keys"]
    assert first is not None
    assert again is not None
    assert again.vector is first.vector
    assert first.signature == "fake:0:none"


def test_the_same_text_as_question_and_document_is_two_vectors(counting: CountingEmbedder) -> None:
    service.embed_query("text")
    service.embed_document("text")
    assert counting.texts == ["text", "text"]


def test_a_shared_vector_cannot_be_changed(counting: CountingEmbedder) -> None:
    embedding = service.embed_query("text")
    assert embedding is not None
    with pytest.raises(ValueError, match="read-only"):
        embedding.vector[0] = 9


def test_the_cache_forgets_the_least_recently_used(counting: CountingEmbedder) -> None:
    for number in range(CACHE_ENTRIES):
        service.embed_query(f"text {number}")
    service.embed_query("text 0")
    service.embed_query("one more")
    counting.texts.clear()
    service.embed_query("text 0")
    service.embed_query("text 1")
    assert counting.texts == ["text 1"]


def test_a_failure_is_none_counted_logged_once_and_not_cached(
    counting: CountingEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    counting.broken = RuntimeError("the device is gone")
    with caplog.at_level(logging.WARNING):
        assert service.embed_query("text") is None
        assert service.embed_query("text") is None
        assert service.embed_documents(["a", "b"]) == [None, None]
    assert failures.failure_counts() == {"embed:RuntimeError": 2, "batch:RuntimeError": 1}
    assert [record.message.count("the device is gone") for record in caplog.records] == [1, 1]
    counting.broken = None
    assert service.embed_query("text") is not None


def test_a_batch_uses_the_cache_but_does_not_fill_it(counting: CountingEmbedder) -> None:
    service.embed_document("known")
    counting.texts.clear()
    vectors = service.embed_documents(["new", "known"])
    assert counting.texts == ["new"]
    assert [embedding is not None for embedding in vectors] == [True, True]
    service.embed_document("new")
    assert counting.texts == ["new", "new"]


def test_another_backend_closes_the_old_one_and_shares_none_of_its_vectors(
    counting: CountingEmbedder,
) -> None:
    service.embed_query("text")
    other = CountingEmbedder()
    service.set_backend(lambda: other)
    service.embed_query("text")
    assert counting.closed
    assert other.texts == ["text"]


def test_without_a_model_nothing_is_embedded_and_the_status_says_what_to_do(unconfigured: Any) -> None:
    assert service.embed_query("text") is None
    assert service.embed_documents(["a", "b"]) == [None, None]
    status = service.embedder_status()
    assert (status.state, status.dim) == ("absent", 0)
    assert "crew embeddings install" in status.error


def test_a_model_installed_later_is_noticed_without_a_restart(
    unconfigured: Any, compact_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert service.embedder_status().state == "absent"
    place = Path(unconfigured.CREW_HOME) / "models" / "minilm-l6-v2.gguf"
    place.parent.mkdir()
    place.symlink_to(compact_model)
    assert service.embedder_status().state == "absent"
    monkeypatch.setattr(service, "ABSENT_RECHECK_SECONDS", 0.0)
    assert service.embedder_status().state == "loading"
    assert service.get_embedder().wait_ready(60)
    status = service.embedder_status()
    assert (status.state, status.model_id, status.dim) == ("ready", "minilm-l6-v2", 384)


def test_a_named_model_file_wins_over_endpoint_and_installed_model(unconfigured: Any, tmp_path: Path) -> None:
    unconfigured.CREW_EMBED_BASE_URL = "http://127.0.0.1:9/v1"
    unconfigured.CREW_EMBED_MODEL_PATH = str(tmp_path / "missing.gguf")
    service.reset()
    status = service.embedder_status()
    assert status.state == "absent"
    assert "missing.gguf" in status.error


def test_an_endpoint_wins_over_an_installed_model(unconfigured: Any, compact_model: Path) -> None:
    place = Path(unconfigured.CREW_HOME) / "models" / "minilm-l6-v2.gguf"
    place.parent.mkdir()
    place.symlink_to(compact_model)
    unconfigured.CREW_EMBED_BASE_URL = "http://127.0.0.1:9/v1"
    unconfigured.CREW_EMBED_MODEL = "served-model"
    service.reset()
    assert service.embedder_status().model_id == "served-model"


def test_a_broken_model_file_is_reported_as_failed(unconfigured: Any, tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"junk")
    unconfigured.CREW_EMBED_MODEL_PATH = str(path)
    service.reset()
    service.get_embedder().wait_ready(10)
    status = service.embedder_status()
    assert status.state == "failed"
    assert "not a GGUF file" in status.error


def test_starting_to_load_returns_at_once_and_ends_ready(unconfigured: Any, compact_model: Path) -> None:
    unconfigured.CREW_EMBED_MODEL_PATH = str(compact_model)
    service.reset()
    service.start_loading()
    assert service.embedder_status().state == "loading"
    assert service.get_embedder().wait_ready(60)


async def test_async_callers_embed_in_the_bounded_pool(counting: CountingEmbedder) -> None:
    names: set[str] = set()
    plain = counting.embed

    def note(text: str, kind: str = "document") -> np.ndarray | None:
        names.add(threading.current_thread().name.split("_")[0])
        return plain(text, kind)

    counting.embed = note  # type: ignore[method-assign]
    assert await service.embed_query_async("text") is not None
    assert names == {"embed"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_makes_its_own_backend_even_if_the_parent_held_the_lock(
    counting: CountingEmbedder,
) -> None:
    service.get_embedder()
    with service._lock:
        child = os.fork()
        if child == 0:
            fresh = CountingEmbedder()
            service._factory = lambda: fresh
            os._exit(0 if service.get_embedder() is fresh and not counting.closed else 1)
        _, code = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(code) == 0

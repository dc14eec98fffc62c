from __future__ import annotations

from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crewsite.search.keyword import keyword_index
from crewsite.search.models import Document
from crewsite.search.service import candidates, document_delete, document_put
from tests.search.conftest import put

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]
HOME = "episodic:1"


def found(query: str, *, collection: str = HOME, k: int = 50) -> list[int]:
    return [hit.object_id for hit in keyword_index().search(collection=collection, query=query, k=k).hits]


def test_words_are_found_in_any_of_their_forms() -> None:
    put(HOME, {1: "We deployed the new parser on Monday.", 2: "Nothing of interest."})
    assert found("deploys parsers") == [1]
    assert found("PARSER") == [1]


def test_documents_with_every_word_come_before_those_with_rarer_ones() -> None:
    put(
        HOME,
        {1: "zebra zebra zebra", 2: "the red house on the hill", 3: "a zebra before a red house", 4: "red"},
    )
    hits = keyword_index().search(collection=HOME, query="red zebra house", k=10).hits
    assert hits[0].object_id == 3
    assert [hit.all_terms for hit in hits] == [True, False, False, False]


def test_an_identifier_is_found_first_among_many() -> None:
    rows = {i: f"ticket number {i} about the weekly report was closed" for i in range(200)}
    put(HOME, rows | {777: "ticket ZX81-QT closed", 778: "policy POL-358 covers storms"})
    assert found("ZX81-QT") == [777]
    assert found("what about ticket ZX81-QT")[0] == 777
    assert found("POL-358") == [778]


@pytest.mark.parametrize(
    "query",
    [
        "(a",
        "*",
        "",
        '""',
        "   ",
        "status: done",
        "don't use agents",
        'NEAR("a" "b")',
        "a AND",
        "text:x",
        "\x00",
    ],
)
def test_no_question_is_an_error(query: str) -> None:
    put(HOME, {1: "Status: done. We don't use agents here.", 2: "plain"})
    assert set(found(query)) <= {1, 2}


def test_punctuated_questions_find_what_they_mean() -> None:
    put(HOME, {1: "Status: done. We don't use agents here.", 2: "plain"})
    assert found("status: done") == [1]
    assert found("don't use agents") == [1]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=80))
def test_any_text_can_be_asked(query: str) -> None:
    found(query)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("即适者生存，生存等于正确", ["适者生存", "生存", "存", "适者生"]),
        ("最も環境に適した種が生き残る。カタカナも", ["環境に適した", "環境", "カタカナ"]),
        ("가장 적합한 종이 살아남는다 적자생존은 이론이다", ["적자생존", "생존", "살아남는다"]),
        ("ผู้ที่เหมาะสมที่สุดจะอยู่รอด", ["เหมาะสม", "รอด"]),
    ],
)
def test_scripts_without_spaces_are_found_by_part(text: str, queries: list[str]) -> None:
    put(HOME, {1: text, 2: "something else in English", 3: "別の文章です 其他 다른 อื่น"})
    for query in queries:
        assert found(query) == [1], query


def test_a_mixed_question_puts_what_has_both_first() -> None:
    put(HOME, {1: "POL-358 only", 2: "生存 only", 3: "POL-358 生存戦略"})
    assert found("POL-358 生存")[0] == 3
    assert set(found("POL-358 生存")) == {1, 2, 3}


def test_a_changed_text_is_found_by_its_new_words_only() -> None:
    put(HOME, {1: "old wording 適者生存"})
    put(HOME, {1: "fresh phrase"})
    assert found("wording") == []
    assert found("適者生存") == []
    assert found("phrase") == [1]


def test_a_deleted_document_is_not_found() -> None:
    put(HOME, {1: "gone soon", 2: "soon too"})
    with transaction.atomic():
        document_delete(collection=HOME, object_id=1)
        document_delete(collection=HOME, object_id=99)
    assert found("soon") == [2]
    assert keyword_index().is_in_step()


def test_what_is_rolled_back_is_not_found() -> None:
    class Undone(Exception):
        pass

    put(HOME, {1: "kept"})
    with pytest.raises(Undone), transaction.atomic():
        document_put(collection=HOME, object_id=2, text="kept not")
        raise Undone
    assert found("kept") == [1]
    assert keyword_index().is_in_step()


def test_owner_one_never_finds_rows_of_owner_twelve() -> None:
    put("episodic:1", {1: "shared word"})
    put("episodic:12", {1: "shared word", 2: "shared word"})
    put("semantic:1", {7: "shared word"})
    assert found("shared", collection="episodic:1") == [1]
    assert sorted(found("shared", collection="episodic:12")) == [1, 2]
    assert found("shared", collection="episodic:2") == []


OWNED = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 12, 21]), st.lists(st.sampled_from(["red", "fox", "生存", "POL-1", "sees"]))
    )
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    OWNED, st.lists(st.sampled_from(["red", "fox", "生存", "POL-1", "sees", "存"]), min_size=1, max_size=3)
)
def test_no_question_reaches_another_owners_rows(rows: list[tuple[int, list[str]]], words: list[str]) -> None:
    with transaction.atomic():
        for number, (owner, text) in enumerate(rows):
            put(f"episodic:{owner}", {number: " ".join(text)}, embed=False)
        for owner in (1, 2, 12, 21):
            mine = {number for number, row in enumerate(rows) if row[0] == owner}
            assert set(found(" ".join(words), collection=f"episodic:{owner}")) <= mine
        transaction.set_rollback(True)


def test_common_words_weigh_without_deciding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crewsite.search.keyword.fts5.COMMON_TERM_MIN", 5)
    rows = {i: f"caroline talked about topic{i}" for i in range(60)}
    put(HOME, rows | {100: "the pottery class", 101: "caroline and the pottery class"})
    assert found("caroline pottery")[:2] == [101, 100]
    assert len(found("caroline", k=100)) == 61
    assert keyword_index().search(collection=HOME, query="caroline pottery", k=1).hits[0].all_terms


def test_the_number_of_hits_asked_for_is_kept() -> None:
    put(HOME, {i: f"same words {i}" for i in range(30)})
    assert len(found("same words", k=7)) == 7
    assert found("same", k=0) == []


BREAKS = [
    ["DROP TABLE search_words"],
    ["DROP TABLE search_grams"],
    ["DROP TABLE search_words_data"],
    ["DROP TABLE search_words_docsize"],
    ["DELETE FROM search_words_data"],
    ["UPDATE search_words_data SET block = x'ff' WHERE id > 10"],
]


# A search does not look at the lengths of documents.
@pytest.mark.parametrize("statements", [one for one in BREAKS if "docsize" not in one[0]])
def test_a_broken_table_heals_in_the_search_that_meets_it(statements: list[str]) -> None:
    put(HOME, {1: "findable 適者生存"}, embed=False)
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
    answer = candidates(collection=HOME, query="findable 適者生存", k=5, mode="keyword")
    assert [hit.object_id for hit in answer.hits] == [1]
    assert answer.degraded == ("keyword_index_rebuilt",)
    assert candidates(collection=HOME, query="findable", k=5, mode="keyword").degraded == ()


LOSSES = [
    "UPDATE search_words_data SET block = zeroblob(length(block))",
    "UPDATE search_words_data SET block = zeroblob(length(block)) WHERE id >= 10",
    "DELETE FROM search_words_data WHERE id >= 10",
    "DELETE FROM search_words_idx",
    "DELETE FROM search_words_docsize",
    "INSERT INTO search_words(search_words) VALUES ('delete-all')",
    "INSERT INTO search_grams(search_grams) VALUES ('delete-all')",
]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statement", LOSSES)
@pytest.mark.parametrize("later", [False, True])
def test_an_emptied_table_is_noticed_by_the_search_that_finds_nothing(statement: str, later: bool) -> None:
    words = " ".join(f"{chr(97 + i % 26)}word{i}" for i in range(400))
    put(HOME, {n: f"{words} findable{n} 適者生存 zebra" for n in range(1, 30)}, embed=False)
    with connection.cursor() as cursor:
        cursor.execute(statement)
    connection.close()  # its own cache of the index goes with it
    if later:
        put(HOME, {50: "written afterwards"}, embed=False)
    found("nowhere 無何有郷")
    assert found("findable7") == [7]
    assert len(found("適者生存")) == 29


def test_what_was_lost_is_told_once_and_other_homes_are_not_asked() -> None:
    put(HOME, {1: "findable"}, embed=False)
    put("episodic:2", {1: "..."}, embed=False)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO search_words(search_words) VALUES ('delete-all')")
        cursor.execute(
            "INSERT INTO search_words(rowid, text) SELECT id, folded FROM search_document WHERE text = '...'"
        )
    assert candidates(collection="episodic:2", query="findable", k=5, mode="keyword").degraded == ()
    answer = candidates(collection=HOME, query="findable", k=5, mode="keyword")
    assert [hit.object_id for hit in answer.hits] == [1]
    assert answer.degraded == ("keyword_index_rebuilt",)
    assert candidates(collection=HOME, query="nowhere", k=5, mode="keyword").degraded == ()


HONEST = [
    "plain words",
    "...",
    "🎉",
    "適者生存",
    "ﷺ ⵣⵓ ᏣᎳᎩ",
    "हिन्दी में",
    "_",
    "x" * 400,
    "Łódź œuvre ıİ",
    "a_b",
]


@pytest.mark.parametrize("text", HONEST)
def test_nothing_found_is_no_fault_whatever_the_texts_are(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    put(HOME, {1: text, 2: f"in the middle {text}", 3: text}, embed=False)
    for query in ("unknown", "無何有郷", "unknown 無何有郷"):
        assert candidates(collection=HOME, query=query, k=5, mode="keyword").degraded == ()
    assert "rebuilt" not in caplog.text


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.text(max_size=300), min_size=1, max_size=3))
def test_no_text_makes_an_honest_search_rebuild_the_index(texts: list[str]) -> None:
    with transaction.atomic():
        put(HOME, dict(enumerate(texts)), embed=False)
        for query in ("qzxv", "無何有郷"):
            answer = candidates(collection=HOME, query=query, k=5, mode="keyword")
            assert answer.degraded == ()
        transaction.set_rollback(True)


@pytest.mark.parametrize("statements", BREAKS)
def test_a_broken_table_heals_in_the_write_that_meets_it(statements: list[str]) -> None:
    put(HOME, {1: "first 適者生存"}, embed=False)
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
    put(HOME, {1: "first changed", 2: "second 適者生存"}, embed=False)
    assert found("changed") == [1]
    assert found("second") == [2]
    assert found("適者生存") == [2]


@pytest.mark.django_db(transaction=True)
def test_a_table_that_cannot_be_made_anew_still_lets_the_texts_answer() -> None:
    put(HOME, {1: "findable"}, embed=False)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE search_words")
        cursor.execute("PRAGMA query_only = ON")
    try:
        answer = candidates(collection=HOME, query="findable", k=5, mode="keyword")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA query_only = OFF")
    assert [hit.object_id for hit in answer.hits] == [1]
    assert answer.degraded == ("keyword_index_broken",)
    assert candidates(collection=HOME, query="findable", k=5, mode="keyword").hits != ()


def test_nothing_found_never_makes_the_index_anew(caplog: pytest.LogCaptureFixture) -> None:
    put(HOME, {1: "something"}, embed=False)
    assert found("unknown words") == []
    assert "rebuilt" not in caplog.text


def test_ids_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"), transaction.atomic():
        document_put(collection=HOME, object_id=1 << 40, text="x")
    assert not Document.objects.exists()


def test_documents_of_common_words_alone_are_all_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One rare word finds too little, so common ones are read whole: what has most of them comes first."""
    monkeypatch.setattr("crewsite.search.keyword.fts5.COMMON_TERM_MIN", 5)
    rows = {i: ("worker", "memory leak", "worker memory", "leak")[i % 4] + f" row{i}" for i in range(60)}
    put(HOME, rows | {100: "memory leak worker", 101: "the quartz"})
    hits = keyword_index().search(collection=HOME, query="memory leak worker quartz", k=40).hits
    assert {hit.object_id for hit in hits[:2]} == {100, 101}
    assert all(rows[hit.object_id].startswith(("memory leak", "worker memory")) for hit in hits[2:30])


@pytest.mark.parametrize("words", ["quartz", "memory quartz worker obsidian", "memory leak worker deploy"])
def test_a_question_takes_few_statements_however_many_words_it_has(
    monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any, words: str
) -> None:
    monkeypatch.setattr("crewsite.search.keyword.fts5.COMMON_TERM_MIN", 5)
    put(HOME, {i: f"memory leak worker deploy row{i}" for i in range(30)} | {100: "quartz", 101: "obsidian"})
    found(words)
    with django_assert_max_num_queries(4):
        found(words)


def segments() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT segid) FROM search_words_idx")
        return int(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_merging_joins_the_pieces_and_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crewsite.search.keyword.schema.SEGMENTS_MAX", 1)
    monkeypatch.setattr("crewsite.search.keyword.schema.MERGE_PAGES", 4)
    for number in range(1, 200):
        put(HOME, {number: f"shared word{number} 適者生存 " + "filler " * 20}, embed=False)
    with transaction.atomic():
        document_delete(collection=HOME, object_id=7)
    assert segments() > 1
    before = [found(query) for query in ("shared", "word9", "word7", "適者生存")]
    keyword_index().merge()
    assert segments() == 1
    assert [found(query) for query in ("shared", "word9", "word7", "適者生存")] == before
    assert before[1:3] == [[9], []]
    assert keyword_index().is_in_step()


def test_a_merge_leaves_a_broken_index_to_the_next_search() -> None:
    put(HOME, {1: "findable"})
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE search_words_idx")
    keyword_index().merge()
    assert found("findable") == [1]

"""Searching facts and episodes through the real index."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest
from constance.test import override_config
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory import access
from memory.models import EpisodicMemory, SemanticMemory
from memory.search_kinds import EpisodicKind, SemanticKind
from memory.selectors import episodic_search, memory_stats, semantic_search
from memory.services import (
    EpisodicDraft,
    episodic_delete,
    episodic_write,
    episodic_write_many,
    review_add,
    semantic_delete,
    semantic_set_if_absent,
    semantic_write,
)
from tests.factories import CONSOLIDATION, EXPLICIT, make_workspace

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from tests.fakes import FakeEmbedder

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]
HOSTILE_QUERIES = [
    *("POL-358", "don't use agents", "status: done", "(a", "*", '""', "   ", ""),
    *("a AND NOT b", "\x00", "NEAR(", "-", "é"),
]


def keep(home: Workspace, text: str, **fields: Any) -> EpisodicMemory:
    result = episodic_write(**{"home": home, "text": text, "origin": CONSOLIDATION, **fields})
    assert result.row is not None, result
    return result.row


def texts(home: Workspace, query: str, **fields: Any) -> list[str]:
    return [hit.row.text for hit in episodic_search(home=home, query=query, **fields).hits]


def fact(home: Workspace, key: str, value: Any) -> SemanticMemory:
    row = semantic_write(home=home, key=key, value=value, origin=EXPLICIT).row
    assert row is not None
    return row


class TestTelling:
    def test_what_may_replace_a_row_is_told_with_it_however_far_it_is(
        self, home: Workspace, embedder: FakeEmbedder
    ) -> None:
        old = keep(home, "The office is in Paris.")
        new = keep(home, "Everybody moved to Rome.")
        EpisodicMemory.objects.filter(pk=new.pk).update(possibly_supersedes=old)
        told = EpisodicKind().recall(query="office", workspace=home, limit=5)
        assert {hit.object_id for hit in told} == {new.pk, old.pk}

    def test_what_may_replace_a_row_that_is_not_told_is_not_told_either(
        self, home: Workspace, embedder: FakeEmbedder
    ) -> None:
        old = keep(home, "The office is in Paris.")
        new = keep(home, "Everybody moved to Rome.", defer_embedding=True)
        EpisodicMemory.objects.filter(pk=new.pk).update(possibly_supersedes=old)
        assert texts(home, "zebra economics", mode="relevance") == [new.text, old.text]
        assert EpisodicKind().recall(query="zebra economics", workspace=home, limit=5) == []


class TestEpisodes:
    def test_an_exact_old_answer_is_injected_and_comes_first_when_asked_for(
        self, home: Workspace, embedder: FakeEmbedder, now: dt.datetime
    ) -> None:
        answer = "The spare key of the archive room hangs behind the blue cabinet."
        keep(home, answer, created_at=now - dt.timedelta(days=300))
        for number in range(20):
            keep(home, f"The sprint {number} review room was booked by team{number}.", created_at=now)
        query = "where hangs the spare key of the archive room"
        injected = episodic_search(home=home, query=query, now=now)
        assert answer in [hit.row.text for hit in injected.hits]
        assert texts(home, query, mode="relevance", now=now)[0] == answer

    @pytest.mark.parametrize("apart", [30, 3_000])
    def test_rows_all_older_than_400_days_are_strictly_ordered(
        self, home: Workspace, embedder: FakeEmbedder, now: dt.datetime, apart: int
    ) -> None:
        ages = [dt.timedelta(days=400 + number * apart) for number in range(12)]
        written = [
            keep(home, f"The old server {n} had trouble", created_at=now - age, defer_embedding=True)
            for n, age in enumerate(ages)
        ]
        hits = episodic_search(home=home, query="old server trouble", mmr=False, limit=12, now=now).hits
        assert [hit.row.pk for hit in hits] == [row.pk for row in written]
        scores = [hit.score for hit in hits]
        assert min(scores) > 0.0
        falling = scores if apart == 30 else scores[:1]
        assert falling == sorted(set(falling), reverse=True)

    @pytest.mark.parametrize("mode", ["auto", "relevance"])
    def test_a_changed_fact_is_told_newest_first_and_never_by_the_old_row_alone(
        self, home: Workspace, embedder: FakeEmbedder, mode: Any
    ) -> None:
        old = keep(home, "The weekly planning meeting of the whole team is on Monday")
        new = keep(home, "The weekly planning meeting of the whole team is on Tuesday")
        question = "is the weekly planning meeting on Monday"
        assert texts(home, question, mode=mode) == [new.text, old.text]
        assert texts(home, question, mode=mode, limit=1) == [new.text]

    def test_rows_that_wait_for_their_vectors_are_not_behind_the_few_that_have_one(
        self, home: Workspace, embedder: FakeEmbedder
    ) -> None:
        waiting = keep(home, "ticket ZX81-QT closed", defer_embedding=True)
        keep(home, "The cellar is damp after long rain")
        for mode in ("auto", "relevance"):
            assert texts(home, "ZX81-QT", mode=mode)[0] == waiting.text

    def test_another_fact_stands_beside_nine_rewordings(
        self, home: Workspace, embedder: FakeEmbedder
    ) -> None:
        for number in range(9):
            keep(home, f"The build server lives in rack nine of room {number}", defer_embedding=True)
        other = keep(home, "Marta keeps a build log")
        assert other.text in texts(home, "build", limit=5)

    @pytest.mark.parametrize("query", HOSTILE_QUERIES)
    @pytest.mark.parametrize("mode", ["auto", "relevance", "keyword", "vector"])
    def test_any_text_is_a_question(self, home: Workspace, query: str, mode: Any) -> None:
        keep(home, "Ticket POL-358 says: don't use agents, status: done (a*)")
        assert isinstance(texts(home, query, mode=mode), list)

    @pytest.mark.parametrize("query", ["POL-358", "don't use agents", "status: done"])
    def test_signs_in_a_question_do_not_hide_the_row(self, home: Workspace, query: str) -> None:
        text = "Ticket POL-358 says: don't use agents, status: done"
        keep(home, text)
        assert texts(home, query) == [text]

    @pytest.mark.parametrize(
        ("text", "queries"),
        [
            ("即适者生存，生存等于正确", ["适者生存", "生存"]),
            ("来週の会議は東京で開かれます", ["東京", "会議は東京"]),
            ("다음 주 회의는 서울에서 열립니다", ["서울", "회의는 서울에서"]),
        ],
    )
    def test_scripts_without_spaces_are_found(self, home: Workspace, text: str, queries: list[str]) -> None:
        keep(home, text)
        for query in queries:
            assert texts(home, query) == [text]

    def test_an_identifier_is_found_first_among_many(self, home: Workspace, embedder: FakeEmbedder) -> None:
        drafts = [
            EpisodicDraft(f"ticket AB{number}-QT opened for the {number}th time") for number in range(200)
        ]
        episodic_write_many(home=home, drafts=drafts, origin=CONSOLIDATION)
        keep(home, "ticket ZX81-QT closed")
        for mode in ("auto", "relevance", "keyword"):
            assert texts(home, "ZX81-QT", mode=mode)[0] == "ticket ZX81-QT closed"

    def test_a_deleted_row_never_answers(self, home: Workspace, embedder: FakeEmbedder) -> None:
        row = keep(home, "The archive key hangs behind the cabinet")
        assert texts(home, "archive key")
        EpisodicMemory.all_objects.filter(pk=row.pk).update(is_deleted=True)  # the index is behind
        assert texts(home, "archive key") == []
        EpisodicMemory.all_objects.filter(pk=row.pk).update(is_deleted=False)
        episodic_delete(row=row, origin=EXPLICIT)
        assert texts(home, "archive key") == []

    def test_without_an_embedder_words_answer_and_the_rung_is_named(self, home: Workspace) -> None:
        keep(home, "The archive key hangs behind the cabinet")
        found = episodic_search(home=home, query="archive keys")
        assert (found.rung, found.degraded) == ("keyword", ("embedder_unavailable",))
        assert found.hits[0].legs == ("keyword",)

    def test_admission_drops_what_is_not_near_and_keeps_what_has_all_words(
        self, home: Workspace, embedder: FakeEmbedder
    ) -> None:
        near = keep(home, "archive key cabinet")
        all_words = keep(home, "the archive " + "and other unrelated chatter about lunch " * 3 + "key")
        keep(home, "The archive of photographs from the summer party was moved to another shelf")
        admitted = texts(home, "archive key", relevance_filter=True)
        assert set(admitted) == {near.text, all_words.text}
        assert len(texts(home, "archive key")) == 3

    def test_age_and_importance_never_decide_about_admission(
        self, home: Workspace, embedder: FakeEmbedder, now: dt.datetime
    ) -> None:
        old = keep(home, "archive key cabinet", importance=0.0, created_at=now - dt.timedelta(days=9_000))
        assert texts(home, "archive key cabinet", relevance_filter=True, now=now) == [old.text]

    def test_a_tag_may_fade_faster(self, home: Workspace, embedder: FakeEmbedder, now: dt.datetime) -> None:
        at = now - dt.timedelta(days=20)
        keep(home, "standup about the archive key", tags=["standup"], created_at=at)
        keep(home, "incident about the archive key", tags=["incident"], created_at=at)
        with override_config(EPISODIC_DECAY_BY_TAG="standup=1, incident=0, broken"):
            assert texts(home, "about the archive key", now=now, mmr=False)[0].startswith("incident")

    def test_reading_is_recorded_later_and_together(
        self, home: Workspace, django_assert_num_queries: Any
    ) -> None:
        row = keep(home, "The archive key hangs behind the cabinet")
        texts(home, "archive key")
        texts(home, "archive key")
        row.refresh_from_db()
        assert row.access_count == 0
        assert access.flush() == 1
        row.refresh_from_db()
        assert row.access_count == 2
        assert row.last_accessed_at is not None
        with django_assert_num_queries(0):
            assert access.flush() == 0

    def test_a_search_takes_the_same_queries_however_many_rows_there_are(
        self, home: Workspace, embedder: FakeEmbedder
    ) -> None:
        def queries() -> list[str]:
            texts(home, "archive note", limit=20)
            with CaptureQueriesContext(connection) as captured:
                texts(home, "archive note", limit=20)
            return [query["sql"] for query in captured]

        keep(home, "archive note about keys")
        few = queries()
        drafts = [EpisodicDraft(f"archive note number {number} about keys") for number in range(120)]
        episodic_write_many(home=home, drafts=drafts, origin=CONSOLIDATION)
        many = queries()
        assert len(many) == len(few), many
        assert len(many) <= 12


class TestFacts:
    def test_a_key_word_beats_a_value_word(self, home: Workspace) -> None:
        fact(home, "pref.editor", "vim")
        fact(home, "project.docs.tool", "the editor of the handbook")
        hits = semantic_search(home=home, query="which editor").hits
        assert [hit.row.key for hit in hits] == ["pref.editor", "project.docs.tool"]
        assert hits[0].citation == "sem:pref.editor"
        assert hits[0].keyword == 1.0

    def test_forms_of_a_word_and_flattened_values_are_found(self, home: Workspace) -> None:
        fact(home, "project.deploy", {"days": ["Tuesday", "Friday"], "host": "frontera"})
        assert [hit.row.key for hit in semantic_search(home=home, query="deploying").hits] == [
            "project.deploy"
        ]
        assert [hit.row.key for hit in semantic_search(home=home, query="frontera").hits] == [
            "project.deploy"
        ]

    def test_meaning_and_words_are_mixed(self, home: Workspace, embedder: FakeEmbedder) -> None:
        fact(home, "user.city", "Lisbon")
        fact(home, "user.name", "Ana")
        (first, *_) = semantic_search(home=home, query="user city Lisbon").hits
        assert first.row.key == "user.city"
        assert first.legs == ("vector", "keyword")
        assert first.score == pytest.approx(1.0)

    def test_an_imported_fact_that_waits_for_its_vector_is_found_first_by_its_words(
        self, home: Workspace, embedder: FakeEmbedder
    ) -> None:
        semantic_write(home=home, key="user.shoe_size", value="forty-four", origin=EXPLICIT)
        semantic_set_if_absent(home=home, key="pref.editor", value="Helix", origin=EXPLICIT)
        hits = semantic_search(home=home, query="which editor, Helix?").hits
        assert hits[0].row.key == "pref.editor"

    def test_old_values_and_deleted_facts_never_answer(self, home: Workspace, embedder: FakeEmbedder) -> None:
        fact(home, "pref.editor", "vim")
        row = fact(home, "pref.editor", "emacs")
        assert [hit.row.value for hit in semantic_search(home=home, query="editor vim").hits] == ["emacs"]
        semantic_delete(row=row, origin=EXPLICIT)
        assert semantic_search(home=home, query="editor vim").hits == ()

    @pytest.mark.parametrize("query", HOSTILE_QUERIES)
    def test_any_text_is_a_question(self, home: Workspace, query: str) -> None:
        fact(home, "pref.status", "done (a*)")
        assert isinstance(semantic_search(home=home, query=query).hits, tuple)

    def test_a_value_without_spaces_is_found(self, home: Workspace) -> None:
        fact(home, "user.motto", "即适者生存")
        assert [hit.row.key for hit in semantic_search(home=home, query="适者生存").hits] == ["user.motto"]


WORDS = st.sampled_from(
    ["archive", "key", "cabinet", "server", "deploy", "即适者生存", "Müller", "ZX81-QT", "the", "of"]
)
PHRASES = st.lists(WORDS, min_size=3, max_size=6).map(" ".join)


@given(ours=st.lists(PHRASES, max_size=4), theirs=st.lists(PHRASES, max_size=4), query=PHRASES)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_another_homes_rows_never_appear(
    ours: list[str], theirs: list[str], query: str, home: Workspace, embedder: FakeEmbedder
) -> None:
    other = make_workspace("other", is_isolated=True)
    for place, phrases in ((home, ours), (other, theirs)):
        for number, phrase in enumerate(phrases):
            episodic_write(home=place, text=f"{phrase} {number}", origin=CONSOLIDATION)
            semantic_write(home=place, key=f"user.k{number}", value=phrase, origin=EXPLICIT)
    for place in (home, other):
        for mode in ("auto", "relevance", "keyword", "vector"):
            hits = episodic_search(home=place, query=query, mode=mode, limit=50).hits
            assert {hit.row.home_id for hit in hits} <= {place.pk}
        assert {hit.row.home_id for hit in semantic_search(home=place, query=query).hits} <= {place.pk}


def test_kinds_list_live_rows_in_id_order_and_recall_the_workspaces_home(
    home: Workspace, other_home: Workspace
) -> None:
    guest = make_workspace("guest", memory_home=home)
    first = keep(home, "The archive key hangs behind the cabinet")
    gone = keep(home, "The archive key was lost for a day")
    foreign = keep(other_home, "Their archive key is elsewhere")
    episodic_delete(row=gone, origin=EXPLICIT)
    kind = EpisodicKind()
    assert [row[:2] for row in kind.documents(0, 10)] == [
        (first.pk, f"episodic:{home.pk}"),
        (foreign.pk, f"episodic:{other_home.pk}"),
    ]
    assert kind.documents(first.pk, 10)[0][0] == foreign.pk
    assert kind.count() == 2
    (hit,) = kind.recall(query="archive key", workspace=guest, limit=5)
    assert (hit.citation, hit.text) == (f"epi:{first.pk}", first.text)
    fact(home, "pref.editor", {"name": "vim"})
    facts = SemanticKind()
    assert facts.count() == 1
    assert facts.documents(0, 10)[0][2] == "pref editor: name: vim"
    (hit,) = facts.recall(query="editor", workspace=guest, limit=5)
    assert (hit.citation, hit.text) == ("sem:pref.editor", "pref.editor: name vim")


def test_stats_count_the_questions_of_the_readers_alone(home: Workspace) -> None:
    guest = make_workspace("guest", memory_home=home)
    for layer in ("preferences", "episodic"):
        review_add(home=home, kind="refused_explicit", summary=layer, payload={"layer": layer})
    assert (memory_stats(guest).open_reviews, memory_stats(home).open_reviews) == (1, 2)


def test_stats_count_live_and_deleted_rows_of_the_home(home: Workspace) -> None:
    guest = make_workspace("guest", memory_home=home)
    keep(home, "The archive key hangs behind the cabinet")
    semantic_delete(row=fact(home, "pref.editor", "vim"), origin=EXPLICIT)
    stats = memory_stats(guest)
    assert (stats.layers["episodic"].live, stats.layers["episodic"].deleted) == (1, 0)
    assert (stats.layers["semantic"].live, stats.layers["semantic"].deleted) == (0, 1)
    assert stats.layers["history"].live == 0
    assert stats.episodic_cap == 10_000

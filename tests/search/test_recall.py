from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.test import override_settings

from crewsite.search import degradation
from crewsite.search.highlight import highlight
from crewsite.search.recall import RecallHit, search_all

WHEN = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)


class Home:
    pk, home = 1, None


HOME = Home()


class _Kind:
    name, prefix, texts = "", "", ()

    def documents(self, after_id: int, limit: int) -> list[tuple[int, str, str]]:
        return []

    def count(self) -> int:
        return 0

    def recall(self, *, query: str, workspace: Any, limit: int, asker: Any = None) -> list[RecallHit]:
        return [
            RecallHit(self.name, pk, f"{self.prefix}:{pk}", text, WHEN, 0.9 - pk / 10)
            for pk, text in enumerate(self.texts, start=1)
        ]


class Notes(_Kind):
    name, prefix, texts = "note", "note", ("the deploy key", "a deploy plan", "more")


class Tickets(_Kind):
    name, prefix, texts = "ticket", "tic", ("deploy broke <script>",)


class Broken(_Kind):
    name, prefix = "broken", "bro"

    def recall(self, *, query: str, workspace: Any, limit: int, asker: Any = None) -> list[RecallHit]:
        degradation.note(["index_behind"])
        raise RuntimeError("no such shelf")


HERE = "tests.search.test_recall"
pytestmark = pytest.mark.usefixtures("kinds")


@pytest.fixture
def kinds():
    with override_settings(SEARCH_KINDS=[f"{HERE}.Notes", f"{HERE}.Tickets"]):
        yield


def test_the_best_of_every_kind_comes_before_the_second_of_any() -> None:
    recall = search_all(query="deploy", workspace=HOME)
    assert [hit.citation for hit in recall.hits] == ["note:1", "tic:1", "note:2", "note:3"]
    assert [hit.score for hit in recall.hits] == sorted((hit.score for hit in recall.hits), reverse=True)


def test_kinds_and_number_can_be_chosen() -> None:
    assert {hit.kind for hit in search_all(query="deploy", workspace=HOME, kinds=["ticket"]).hits} == {
        "ticket"
    }
    assert len(search_all(query="deploy", workspace=HOME, limit=2).hits) == 2
    assert search_all(query="  ", workspace=HOME).hits == ()


def test_a_kind_that_fails_is_named_and_the_others_answer() -> None:
    with override_settings(SEARCH_KINDS=[f"{HERE}.Broken", f"{HERE}.Notes"]):
        recall = search_all(query="deploy", workspace=HOME)
    assert recall.degraded == ("index_behind", "broken_failed")
    assert len(recall.hits) == 3


def test_excerpts_mark_what_was_asked_and_escape_the_rest() -> None:
    hits = search_all(query="deploys", workspace=HOME, kinds=["ticket"]).hits
    assert hits[0].highlight == "<mark>deploy</mark> broke &lt;script&gt;"


def test_an_excerpt_of_a_long_text_is_around_the_match() -> None:
    text = "filler " * 200 + "the needle is here " + "padding " * 200
    excerpt = highlight(text, "needle")
    assert "<mark>needle</mark>" in excerpt
    assert excerpt.startswith("… ")
    assert excerpt.endswith(" …")
    assert len(excerpt) < 300


@pytest.mark.parametrize("query", ["", "*", "(a", "生存", "<b>"])
def test_any_question_gives_a_safe_excerpt(query: str) -> None:
    excerpt = highlight("<b>适者生存</b> & more", query)
    assert "<b>" not in excerpt
    assert ("<mark>生存</mark>" in excerpt) == (query == "生存")

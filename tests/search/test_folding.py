"""Words are found as they are typed, and as people type them who cannot or will not type them so."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewsite.search.folding import FOLD, fold, folded_with_places
from crewsite.search.highlight import highlight
from crewsite.search.keyword import keyword_index
from crewsite.search.models import Collection, Document
from crewsite.search.reconcile import keyword_rebuild
from crewsite.search.service import candidates, search_status
from tests.search.conftest import put

pytestmark = pytest.mark.django_db
HOME = "episodic:1"
TEXTS = [
    ("Die Straße nach Köln ist gesperrt", ["Straße", "strasse", "STRASSE", "Köln", "koln", "KÖLN"]),
    ("Der Fußboden ist weiß und die Tür grün", ["weiß", "weiss", "fußboden", "Tur"]),
    ("工单POL-358已于昨天关闭", ["POL-358", "pol-358", "昨天关闭", "工单"]),
    ("我们使用Python开发后端服务", ["Python", "后端服务", "使用"]),
    ("社内ではPythonを使っています", ["Python", "使って"]),
    ("우리는Python으로 개발한다", ["Python", "개발한다"]),
    ("版本3.2.1已经发布", ["3.2.1", "版本", "已经发布"]),
    ("会議室ＡＢＣの鍵は受付にある", ["ＡＢＣ", "ABC", "abc", "会議室"]),
    ("The oﬃce door code", ["oﬃce", "office"]),
    ("価格は１０００円です", ["1000", "１０００"]),
    ("ｶﾞｲﾄﾞを読む", ["ガイド", "ｶﾞｲﾄﾞ"]),
    ("İstanbul'da bir ev, Isparta'da bir bahçe", ["istanbul", "İSTANBUL", "ısparta", "ISPARTA", "bahce"]),
    (unicodedata.normalize("NFD", "Café zum naïven Über-Ångström"), ["café", "naiven", "über", "ANGSTRÖM"]),
    (unicodedata.normalize("NFC", "déjà vu in Málaga"), [unicodedata.normalize("NFD", "déjà Málaga")]),
    ("قرأتُ كِتَابَ أحمد", ["كتاب", "احمد", "كِتَاب"]),
    ("אמרתי שָׁלוֹם לכולם", ["שלום", "שָׁלוֹם"]),
    ("Ο δρόμος είναι κλειστός", ["ΔΡΌΜΟΣ", "δρομος", "κλειστός"]),
    ("Новый ёжик пришёл домой", ["ежик", "НОВЫЙ", "домой"]),
    ("The party🎉begins at noon", ["party", "begins"]),
    ("นัดประชุมที่ห้องABCวันศุกร์", ["ABC", "ประชุม", "วันศุกร์"]),
    ("Tom™ sells co\u00adoperative chairs", ["Tom", "Tom™", "cooperative"]),
]


def found(query: str) -> list[int]:
    hits = candidates(collection=HOME, query=query, k=50, mode="keyword").hits
    return [hit.object_id for hit in hits if hit.all_terms]


def test_words_are_found_however_they_are_written() -> None:
    put(HOME, {number: text for number, (text, _) in enumerate(TEXTS)}, embed=False)
    for number, (text, queries) in enumerate(TEXTS):
        for query in queries:
            assert number in found(query), (query, text)


@pytest.mark.parametrize(("text", "queries"), TEXTS)
def test_an_excerpt_marks_the_words_as_they_were_written(text: str, queries: list[str]) -> None:
    for query in queries:
        excerpt = highlight(text, query)
        assert "<mark>" in excerpt, query
        assert excerpt.replace("<mark>", "").replace("</mark>", "").replace("&#x27;", "'") == text


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Die Straße nach Köln", "strasse koln", "Die <mark>Straße</mark> nach <mark>Köln</mark>"),
        ("会議室ＡＢＣの鍵", "abc", "会議室<mark>ＡＢＣ</mark>の鍵"),
        ("the oﬃce door", "office", "the <mark>oﬃce</mark> door"),
        ("我们使用Python开发", "python", "我们使用<mark>Python</mark>开发"),
        ("cafe\u0301 noir", "café", "<mark>cafe\u0301</mark> noir"),
    ],
)
def test_a_mark_is_as_long_as_the_word(text: str, query: str, marked: str) -> None:
    assert highlight(text, query) == marked


def test_an_excerpt_of_a_long_text_is_around_the_match() -> None:
    text = "Größe ﬃ " * 2_000 + "die Straße ist hier " + "Füllung " * 500
    excerpt = highlight(text, "strasse")
    assert "<mark>Straße</mark> ist hier" in excerpt
    assert len(excerpt) < 300


def test_words_of_a_different_letter_are_not_found() -> None:
    put(HOME, {1: "мой дом", 2: "Python开发"}, embed=False)
    assert found("мои") == []
    assert found("pytho") == []
    assert found("ython") == []


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(max_size=60))
def test_every_folded_character_has_its_place(text: str) -> None:
    folded, places = folded_with_places(text)
    assert len(places) == len(folded) + 1
    assert places == sorted(places)
    assert all(place < len(text) for place in places[:-1])
    assert folded.replace(" ", "") == fold(text).replace(" ", "")


@given(st.text(max_size=60), st.text(max_size=20))
def test_any_text_gives_an_excerpt_for_any_question(text: str, query: str) -> None:
    highlight(text, query)
    highlight(text, text)


def test_documents_that_an_older_version_folded_are_folded_anew() -> None:
    put(HOME, {1: "Die Straße", 2: "plain"}, embed=False)
    old = Document.objects.get(object_id=1)
    keyword_index().replace(removed=[old], added=[Document(id=old.pk, folded="die straße")])
    Document.objects.filter(pk=old.pk).update(folded="die straße")
    Collection.objects.update(fold="0")
    assert found("strasse") == []
    assert "keyword_index_behind" in search_status()["degraded"]
    keyword_rebuild()
    assert found("strasse") == [1]
    assert found("plain") == [2]
    assert "keyword_index_behind" not in search_status()["degraded"]
    assert set(Collection.objects.values_list("fold", flat=True)) == {FOLD}

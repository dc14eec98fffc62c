from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewsite.search.words import has_unspaced, query_terms, stem_prefix


def asked(query: str) -> list[tuple[str, str]]:
    return [(term.text, term.kind) for term in query_terms(query)]


def test_stop_words_are_left_out_when_something_else_is_asked() -> None:
    assert asked("what is the deploy key") == [("deploy", "word"), ("key", "word")]


def test_stop_words_are_asked_for_when_there_is_nothing_else() -> None:
    assert asked("to be or not to be") == [(word, "word") for word in ("to", "be", "or", "not")]


def test_stop_words_of_the_questions_own_language_are_left_out() -> None:
    assert asked("wann ist die Sitzung mit der Leitung") == [
        ("wann", "word"),
        ("sitzung", "word"),
        ("leitung", "word"),
    ]
    # In an English question "die" is no article.
    assert ("die", "word") in asked("how did the hero die")


def test_names_with_signs_inside_stay_whole() -> None:
    assert asked("POL-358?") == [("pol-358", "word")]
    assert asked("See ticket ZX81-QT.") == [("see", "word"), ("ticket", "word"), ("zx81-qt", "word")]
    assert asked("status: done") == [("status", "word"), ("done", "word")]


def test_a_name_with_digits_weighs_more_than_a_word() -> None:
    weights = {term.text: term.weight for term in query_terms("ticket ZX81-QT")}
    assert weights["zx81-qt"] > weights["ticket"]


def test_scripts_without_spaces_are_asked_by_substrings() -> None:
    assert asked("生存") == [("生存", "part")]
    assert asked("适者生存") == [("适者生", "gram"), ("者生存", "gram")]
    assert asked("POL-358と適者") == [("pol-358", "word"), ("と適者", "gram")]


@pytest.mark.parametrize(
    "query", ["(a", "*", '""', "   ", "", "AND OR NOT", 'a" OR "b', "\x00", "\ud800", "-"]
)
def test_no_question_is_syntax(query: str) -> None:
    assert all(term.text for term in query_terms(query))


@given(st.text(max_size=300))
def test_any_text_gives_a_bounded_number_of_terms(text: str) -> None:
    assert len(query_terms(text)) <= 24


def test_a_pasted_page_keeps_its_names() -> None:
    page = " ".join(f"filler{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(100)) + " INC-4711"
    terms = query_terms(page)
    assert len(terms) == 24
    assert "inc-4711" in [term.text for term in terms]


def test_unspaced_scripts_are_told_apart() -> None:
    assert has_unspaced("mixed 生存 text")
    assert has_unspaced("ภาษาไทย")
    assert not has_unspaced("Grüße, Привет, café")


def test_forms_of_a_word_share_their_beginning() -> None:
    assert stem_prefix("deploying") == stem_prefix("Deploys") == "deploy"
    assert stem_prefix("is") == "is"

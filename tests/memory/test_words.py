"""Words as the keyword side compares them."""

from __future__ import annotations

import pytest

from memory.words import detect_language, fact_overlap, share_found, stems


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("the release was moved to Friday", "english"),
        ("la réunion est dans le bureau de Paris", "french"),
        ("der Server ist nicht mehr auf der alten Maschine", "german"),
        ("el servidor no está en la oficina", "spanish"),
        ("сервер не работает", "russian"),
        ("pytest ruff mypy", "english"),
        ("", "english"),
    ],
)
def test_the_language_is_told_by_function_words(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_stems_join_the_forms_of_a_word_and_leave_function_words_out() -> None:
    assert stems("the deployments") == stems("deployment")
    assert stems("what is it") != frozenset()


def test_a_word_in_the_key_counts_three_times() -> None:
    in_key = fact_overlap("which editor", key="pref editor", value="vim", key_weight=3.0)
    in_value = fact_overlap("which editor", key="pref tool", value="an editor", key_weight=3.0)
    assert in_key == pytest.approx(3.0)
    assert in_value == pytest.approx(1.0)
    assert fact_overlap("which colour", key="pref editor", value="vim", key_weight=3.0) == 0.0


def test_share_found_is_the_part_of_the_question_a_text_has() -> None:
    assert share_found("deploying the servers", "We deploy a server every day") == pytest.approx(1.0)
    assert share_found("deploy rockets", "We deploy a server") == pytest.approx(0.5)
    assert share_found("", "anything") == 0.0

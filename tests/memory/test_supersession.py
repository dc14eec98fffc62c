"""Which of two rows comes first when one may replace the other."""

from __future__ import annotations

import numpy as np
import pytest

from crewsite.search.words import Term
from memory.supersession import asked_for, newer_first, newer_rows, with_newer


def column(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def test_the_latest_of_several_replaces_a_row_and_rows_outside_the_pool_are_no_matter() -> None:
    assert newer_rows(column(1, 2, 3, 9), column(0, 1, 1, 7)) == {1: 3}


@pytest.mark.parametrize(
    ("picked", "told"),
    [([1], [3, 1]), ([1, 2], [3, 2, 1]), ([2, 1], [3, 2, 1]), ([4, 1], [4, 3, 1]), ([3], [3]), ([], [])],
)
def test_the_last_of_a_line_stands_before_what_it_may_replace(picked: list[int], told: list[int]) -> None:
    assert newer_first(picked, {1: 2, 2: 3}, {}) == told


def test_a_row_that_is_asked_for_stands_before_the_last_of_its_line() -> None:
    assert newer_first([1, 4], {1: 2, 2: 3}, {1: True}) == [1, 3, 4]


def test_a_line_that_runs_in_a_circle_ends() -> None:
    assert sorted(newer_first([1], {1: 2, 2: 1}, {})) == [1, 2]


def test_a_whole_line_comes_with_its_first_row() -> None:
    rows = np.array([True, False, False, False])
    assert with_newer(rows, column(1, 2, 3, 4), column(0, 1, 2, 0)).tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("old", "new", "question", "is_asked_for"),
    [
        ("ticket ZX81-QT closed", "ticket ZX89-QT closed", "ZX81-QT", True),
        ("ticket ZX81-QT closed", "ticket ZX89-QT closed", "ticket", False),
        ("Standup on May 12", "Standup on May 13", "12 May", True),
        ("Alice likes tea", "Bob likes tea", "alice tea", True),
        ("The meeting is on Monday", "The meeting is on Tuesday", "meeting monday", False),
        ("I work at Google", "I just joined Microsoft", "work Google", False),
        ("I live at 12 Elm Street", "I moved to 14 Oak Street", "live 12", False),
    ],
)
def test_a_question_asks_for_an_older_row_by_what_only_that_row_is_about(
    old: str, new: str, question: str, *, is_asked_for: bool
) -> None:
    terms = [Term(word, "word") for word in question.split()]
    texts = np.array([old, new], dtype=np.object_)
    held = np.array([[term.text.casefold() in text.casefold() for term in terms] for text in texts])
    flags = asked_for(column(1, 2), column(0, 1), texts, held=held, terms=terms)
    assert flags.tolist() == [is_asked_for, False]

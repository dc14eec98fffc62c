"""What is said around a row."""

from __future__ import annotations

import numpy as np
import pytest

from crewsite.search.evidence import Evidence
from crewsite.search.keyword.scoring import Posting, TermTable
from crewsite.search.words import Term
from memory.neighbourhood import speakers_named, window_cosines, window_words, windows


def array(*ids: int) -> np.ndarray:
    return np.array(ids, dtype=np.int64)


def test_a_row_sees_two_rows_on_each_side_of_its_own_conversation() -> None:
    found = windows(array(3, 1, 12, 99), [[1, 2, 3, 4], [10, 12]])
    assert found.tolist() == [
        [1, 2, 3, 4, -1],
        [-1, -1, 1, 2, 3],
        [-1, 10, 12, -1, -1],
        [-1, -1, 99, -1, -1],
    ]
    assert windows(array(5), []).tolist() == [[-1, -1, 5, -1, -1]]
    assert windows(array(), []).shape == (0, 5)


class Cosines(Evidence):
    """Evidence with cosines that are given."""

    def cosines(self, ids: np.ndarray) -> np.ndarray:
        known = {1: 0.2, 2: 0.4, 4: 0.9}
        return np.array([known.get(pk, np.nan) for pk in ids.tolist()], dtype=np.float32)


def test_the_window_has_the_mean_of_the_vectors_there_are() -> None:
    around = windows(array(2, 3, 77, 78), [[1, 2, 3, 4]])
    own = np.array([0.4, np.nan, 0.5, np.nan])
    found = window_cosines(around, own, Cosines(TermTable()))
    assert found[:3] == pytest.approx([(0.2 + 0.4) / 2, (0.4 + 0.9) / 2, 0.5])
    assert np.isnan(found[3])


def test_words_of_the_neighbours_count_and_saturate() -> None:
    postings = (
        Posting(Term("tea", "word"), array(1, 2, 3, 50), 4),
        Posting(Term("cake", "word"), array(4), 1),
    )
    evidence = Evidence(TermTable(postings, np.array([1.0, 5.0])))
    alone, between, edge = window_words(windows(array(50, 2, 4), [[1, 2, 3, 4]]), evidence)
    assert alone == pytest.approx(1.0)
    assert between == pytest.approx(3 * 2.2 / (3 + 1.2) + 5.0)
    assert edge == pytest.approx(2 * 2.2 / (2 + 1.2) + 5.0)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What did Caroline paint?", [True, False, False, False]),
        ("what did caroline's friend Mel say", [True, False, False, False]),
        ("Did Caroline thank Ana Maria?", [False, False, False, False]),
        ("When did Ana Maria leave?", [False, True, False, False]),
        ("When did Ana leave?", [False, False, False, False]),
        ("who painted?", [False, False, False, False]),
        ("https", [False, False, False, False]),
    ],
)
def test_the_one_named_speaker_is_found(question: str, named: list[bool]) -> None:
    openings = ["Caroline: I painted", "Ana Maria: hello", "no speaker here", "https: //example"]
    if question == "https":
        openings[3] = "https://example.org: x"
    assert speakers_named(question, openings).tolist() == named

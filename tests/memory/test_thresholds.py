"""Thresholds of embedding models."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from memory.changes import disagreement
from memory.constants import SEED_THRESHOLDS, THRESHOLDS, Thresholds, thresholds_for

ROWS = list(
    csv.DictReader((Path(__file__).resolve().parents[2] / "bench/thresholds.csv").open(encoding="utf-8"))
)


def test_an_unknown_model_gets_the_seeds_thresholds() -> None:
    assert thresholds_for("some-other-model") == SEED_THRESHOLDS
    assert Thresholds(near_duplicate=0.88, relevance=0.55, relevance_long=0.42) == SEED_THRESHOLDS


@pytest.mark.parametrize("model", THRESHOLDS)
def test_long_texts_are_admitted_more_easily_and_duplicates_must_be_nearer_than_answers(model: str) -> None:
    limits = thresholds_for(model)
    assert limits.relevance_long < limits.relevance < limits.near_duplicate


def test_most_changed_facts_of_the_labelled_list_are_told_from_their_rewordings() -> None:
    told = sum(disagreement(row["changed"], row["fact"]) is not None for row in ROWS)
    mistaken = sum(disagreement(row["reworded"], row["fact"]) is not None for row in ROWS)
    assert told == len(ROWS)
    assert mistaken <= 0.1 * len(ROWS)

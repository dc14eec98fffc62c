"""Derives a model's near-duplicate threshold and relevance floors from `thresholds.csv`: facts with a
rewording, a
changed version and a question, in groups of one topic. What it prints belongs into `memory/constants.py`."""

from __future__ import annotations

import argparse
import csv
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from bench.report import Report
from bench.site import prepare

if TYPE_CHECKING:
    import numpy as np

STEP = 0.01
# A fact dropped as a duplicate is lost, a duplicate kept is only a second row: so the threshold is as high
# as still catches nearly all rewordings, and at least this far above the nearest pair of different facts.
MARGIN = 0.02
REWORDINGS_CAUGHT = 0.95
# Of floors that are as good as the best one, the highest: what does not belong costs room in every prompt.
F1_SLACK = 0.01


def run(_: argparse.Namespace) -> Report:
    prepare()
    from crewsite.embeddings.service import get_embedder
    from memory.constants import thresholds_for

    rows = list(csv.DictReader((Path(__file__).parent / "thresholds.csv").open(encoding="utf-8")))
    used = thresholds_for(get_embedder().model_id)
    same, told_apart, distinct = pairs(rows)
    near, kept, caught = near_duplicate(same, distinct)
    short, short_f1 = floor_of(rows, lengthen=False)
    long, long_f1 = floor_of(rows, lengthen=True)
    found = f"near_duplicate={near:.2f} relevance={short:.2f} relevance_long={long:.2f}"
    print(f"model {get_embedder().model_id}: {found}")
    lost = sum(cosine > used.near_duplicate for cosine in distinct) / len(distinct)
    return Report(
        "thresholds",
        {
            "near_duplicate": near,
            "relevance": short,
            "relevance_long": long,
            "rewordings_caught": caught,
            "changed_facts_told_apart": told_apart,
            "highest_distinct_cosine": kept,
            "relevance_f1": short_f1,
            "relevance_long_f1": long_f1,
            "used_near_duplicate": used.near_duplicate,
            "used_relevance": used.relevance,
            "used_relevance_long": used.relevance_long,
            "used_facts_lost": lost,
        },
        {
            "used_facts_lost": ("<=", 0.0),
            "rewordings_caught": (">=", 0.9),
            "changed_facts_told_apart": (">=", 0.9),
            "relevance_f1": (">=", 0.85),
        },
    )


def embed(texts: list[str], *, query: bool = False) -> np.ndarray:
    import numpy as np

    from crewsite.embeddings.service import get_embedder

    return np.stack(get_embedder().embed_batch(texts, "query" if query else "document"))


def pairs(rows: list[dict[str, str]]) -> tuple[list[float], float, list[float]]:
    """Cosines of rewordings, 0 where one is taken for another fact; the share of changed facts that are told
    apart; cosines of different facts that are not."""
    from memory.changes import disagreement

    facts, reworded, changed = (
        embed([row[column] for row in rows]) for column in ("fact", "reworded", "changed")
    )
    same = [
        float(a @ b) if disagreement(row["reworded"], row["fact"]) is None else 0.0
        for a, b, row in zip(facts, reworded, rows, strict=True)
    ]
    told = [disagreement(row["changed"], row["fact"]) is not None for row in rows]
    distinct = [float(a @ b) for a, b, seen in zip(facts, changed, told, strict=True) if not seen]
    distinct += [
        float(facts[i] @ facts[j])
        for i, j in combinations(range(len(rows)), 2)
        if disagreement(rows[j]["fact"], rows[i]["fact"]) is None
    ]
    return same, sum(told) / len(told), distinct


def near_duplicate(same: list[float], distinct: list[float]) -> tuple[float, float, float]:
    """(threshold, highest cosine of different facts, share of rewordings above the threshold)."""
    highest = max(distinct)
    catching = sorted(same)[int(len(same) * (1 - REWORDINGS_CAUGHT))]
    threshold = max(int(catching / STEP) * STEP, round(highest + MARGIN, 2))
    return threshold, highest, sum(cosine > threshold for cosine in same) / len(same)


def floor_of(rows: list[dict[str, str]], *, lengthen: bool) -> tuple[float, float]:
    """The highest cosine floor with about the best F1, right and wrong answers counted alike, and that F1.

    Long texts are a fact amid the others of its group. Wrong answers are, for short texts, the other facts of
    the group (the hard case), for long ones the texts of other groups.
    """
    texts = [in_the_middle(rows, row) if lengthen else row["fact"] for row in rows]
    answers, questions = embed(texts), embed([row["question"] for row in rows], query=True)
    right = [float(questions[n] @ answers[n]) for n in range(len(rows))]
    wrong = [
        float(questions[n] @ answers[m])
        for n, asked in enumerate(rows)
        for m, other in enumerate(rows)
        if n != m and (asked["group"] != other["group"]) == lengthen
    ]
    grid = [step * STEP for step in range(5, 80)]
    best = max(f1(right, wrong, floor) for floor in grid)
    floor = max(floor for floor in grid if f1(right, wrong, floor) >= best - F1_SLACK)
    return round(floor, 2), f1(right, wrong, floor)


def in_the_middle(rows: list[dict[str, str]], row: dict[str, str]) -> str:
    others = [other["fact"] for other in rows if other["group"] == row["group"] and other is not row]
    return " ".join([*others[:2], row["fact"], *others[2:]])


def f1(right: list[float], wrong: list[float], floor: float) -> float:
    """F1 as if there were as many wrong answers as right ones."""
    hits = sum(cosine >= floor for cosine in right) / len(right)
    false = sum(cosine >= floor for cosine in wrong) / len(wrong)
    return 2 * hits / (1 + hits + false)

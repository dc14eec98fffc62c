"""Which of two rules lives: labelled pairs through the decision of `lessons.dedup`, with the compact
model's cosines.

Also derives that model's thresholds: the best F1 over a grid is printed beside the F1 of those in
`lessons.constants`.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from bench.report import Report
from bench.site import prepare

PAIRS: Final = Path(__file__).parent / "lesson_pairs.csv"
GRID: Final = tuple(step / 100 for step in range(50, 91))


@dataclass(frozen=True, slots=True)
class Pair:
    """`gives_way`: the two say the same, or the new one takes the old one's place, so that one of them
    lives. `replaces`: it must be the old one that goes; a new rule that is said to be known already is lost.
    """

    old: str
    new: str
    gives_way: bool
    replaces: bool
    cosine: float
    split: str
    language: str


def run(options: argparse.Namespace) -> Report:
    prepare()
    from lessons.constants import thresholds_for

    pairs = load()
    shipped = thresholds_for("minilm-l6-v2")
    best, topic, choice = max(
        (f1(pairs, topic=topic, choice=choice, same=shipped.same), topic, choice)
        for topic, choice in product(GRID, GRID)
        if choice <= topic
    )
    used = {"topic": shipped.topic, "choice": shipped.choice, "same": shipped.same}
    figures = {
        "pairs": float(len(pairs)),
        "f1": f1(pairs, **used),
        "pairs_not_english": float(sum(pair.language != "en" for pair in pairs)),
        "f1_not_english": f1([pair for pair in pairs if pair.language != "en"], **used),
        **{
            f"f1_{split}": f1([pair for pair in pairs if pair.split == split], **used)
            for split in sorted({pair.split for pair in pairs})
        },
        "f1_without_choices": f1(pairs, topic=shipped.topic, choice=shipped.topic, same=shipped.same),
        "f1_of_the_seeds_thresholds": f1(pairs, topic=0.6, choice=0.6, same=shipped.same),
        "best_f1_of_the_grid": best,
        "best_topic": topic,
        "best_choice": choice,
    }
    return Report("lessons", figures, {"f1": (">=", 0.95)})


def load() -> list[Pair]:
    from crewsite.embeddings.service import embed_document

    pairs = []
    with PAIRS.open(newline="") as file:
        for row in csv.DictReader(file):
            old, new = embed_document(row["old"]), embed_document(row["new"])
            if old is None or new is None:
                raise SystemExit("The embedder gave no vector.")
            cosine = float(old.vector @ new.vector)
            gives_way = row["label"] != "unrelated"
            replaces = row["label"] == "replaces"
            pairs.append(
                Pair(row["old"], row["new"], gives_way, replaces, cosine, row["split"], row["language"])
            )
    return pairs


def f1(pairs: list[Pair], *, topic: float, choice: float, same: float) -> float:
    """Of the pairs of which one rule should give way, against those of which one does."""
    from lessons.constants import Thresholds

    limits = Thresholds(topic=topic, choice=choice, same=same)
    found = [gives_way(pair, limits) for pair in pairs]
    right = sum(pair.gives_way and was for pair, was in zip(pairs, found, strict=True))
    wrong = sum(pair.gives_way != was for pair, was in zip(pairs, found, strict=True))
    return 2 * right / (2 * right + wrong)


def gives_way(pair: Pair, limits: object) -> bool:
    from lessons.constants import Thresholds
    from lessons.dedup import Rule, decide

    assert isinstance(limits, Thresholds)
    rules = [Rule(1, pair.old, is_explicit=True)]
    decision = decide(pair.new, rules, is_explicit=True, cosines={1: pair.cosine}, thresholds=limits)
    if pair.replaces:
        return decision.kind in {"replace", "enrich"}
    return decision.kind != "insert"

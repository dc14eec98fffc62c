"""Numbers and word lists of lessons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from crewsite.security.origin import Source

RULE_MIN_CHARS: Final = 3  # chapter 02, 2.5
RULE_MAX_CHARS: Final = 1_000
NEGATIVE_MAX_CHARS: Final = 1_000
SCOPE_MAX_CHARS: Final = 500

# Chapter 02, 2.5; seed 004 has the first two, and seeds rank what a model inferred below what was carried
# over.
CONFIDENCE: Final[dict[str, float]] = {
    Source.USER_EXPLICIT: 1.0,
    Source.MIGRATION: 0.9,
    Source.IMPORT: 0.9,
    Source.CONSOLIDATION: 0.85,
    Source.TASK: 0.85,
    Source.API: 0.9,
}

MAX_RENDERED: Final = 50  # seed 001, "max 50 lessons"
LEFT_OUT_NAMED: Final = 20  # lessons a prompt's notice names when they do not fit; the rest is counted
VECTOR_WEIGHT: Final = 0.6  # chapter 03, 3.6: the layers share one mix of meaning and words
KEYWORD_WEIGHT: Final = 0.4
SEARCH_MIN_POOL: Final = 50  # chapter 02, 2.4: each leg brings at least this many
SEARCH_POOL_PER_HIT: Final = 5
TOPIC_OVERLAP: Final = (
    0.5  # seed 001, "topic overlap (>50% keyword -> replace)"; chapter 02 counts the half in
)
# Chapter 02, 2.3 tells of an uncapped rule that swept a fifth of a store: one write replaces the nearest
# few at most.
MAX_REPLACED: Final = 3
NEAREST_LOOKED_AT: Final = 8  # nearest lessons compared by meaning; further ones are far below any threshold
TOPIC_CANDIDATES: Final = 24  # lessons that share keywords and are embedded for comparison, most shared first


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines of one embedding model between two rules.

    `topic`: two rules that share their keywords are about the same thing. `choice`: the same where they
    differ in one value that is chosen ("use X for indentation"), which is weaker evidence by cosine and
    stronger by form. `same`: two rules mean the same whatever their words. `latin_only`: the model places
    texts of other scripts by accident, so that only their form counts.
    """

    topic: float
    choice: float
    same: float
    latin_only: bool = False


# Chapter 02, 2.5, for the 0.6B model the seeds were tuned on; also used for models nobody measured.
SEED_THRESHOLDS: Final = Thresholds(topic=0.60, choice=0.60, same=0.85)
THRESHOLDS: Final[dict[str, Thresholds]] = {
    "qwen3-embedding-0.6b": SEED_THRESHOLDS,
    # `python -m bench lessons` derives them from bench/lesson_pairs.csv (253 pairs, F1 0.97). At 0.60 for
    # all the F1 is 0.92: "back up the uploads before migrations" would replace "back up the database before
    # migrations" (cosine 0.74), and "use GraphQL for the public API" would stand beside REST (0.53).
    "minilm-l6-v2": Thresholds(topic=0.75, choice=0.52, same=0.85, latin_only=True),
}


def thresholds_for(model_id: str) -> Thresholds:
    return THRESHOLDS.get(model_id, SEED_THRESHOLDS)

"""Numbers of layers 1 to 5, each with where it comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# Facts (chapter 02, 2.3; seed 004, "Semantic Memory").
KEY_PATTERN: Final = re.compile(r"[a-z][a-z0-9_.]*[a-z0-9]", re.ASCII)
KEY_MAX_CHARS: Final = 100
KEY_PREFIXES: Final = ("pref.", "project.", "user.")
KEY_RESERVED_PREFIX: Final = "lesson."
VALUE_MAX_BYTES: Final = 4_096
# Reading nests as deep as the value; a value is read far down in other calls, and Python stops at 1,000.
VALUE_MAX_DEPTH: Final = 32
MIN_CONFIDENCE: Final = 0.8  # of a write that no person asked for
EQUAL_CONFIDENCE_WITHIN: Final = 0.1
FLOAT_SLACK: Final = 1e-9  # 0.9 - 0.8 is 0.09999999999999998 in binary
VECTOR_WEIGHT: Final = 0.6
KEYWORD_WEIGHT: Final = 0.4
KEY_MATCH_WEIGHT: Final = 3.0
MAX_RETIRED_EPISODES: Final = 3  # an uncapped rule once swept a fifth of a store (2.3)
MIN_QUOTED_CHARS: Final = 3  # a shorter value ("a", "12") is quoted by chance
QUOTING_ROWS_LOOKED_AT: Final = 200  # newest first; bounds the work after a commit

# Episodes (2.4; seed 004, "Episodic Memory").
TEXT_MIN_CHARS: Final = 10
TEXT_MAX_CHARS: Final = 2_000
DEFAULT_IMPORTANCE: Final = 0.5
MAX_TAGS: Final = 10
TAG_PATTERN: Final = re.compile(r"[a-z0-9_-]{1,32}", re.ASCII)
NEIGHBOURS_LOOKED_AT: Final = (
    16  # nearest rows a write compares itself with; those deleted meanwhile are skipped
)
# A change ("I just joined Microsoft") is held against the rows that tell the state before it ("I work at
# Google"). The compact model gives such pairs cosines from 0.26, unrelated ones mostly below 0.2.
STATES_LOOKED_AT: Final = 64
STATES_LOOKED_AT_BY_WORDS: Final = 500  # words alone place "the job queue" before "I work at Google"
STATE_MIN_COSINE: Final = 0.2
IMPORTANCE_BASE: Final = 0.7
IMPORTANCE_SHARE: Final = 0.3
DECAY_PER_DAY: Final = 0.03
MMR_LAMBDA: Final = 0.6
# Chapter 02, 2.4 asks for 50 or more. Ten rows of `bench locomo` hold 0.790 of the evidence with 50, 0.797
# with 64, 0.807 with 100; each row costs about 7 us.
MIN_POOL: Final = 64
POOL_PER_HIT: Final = 5
MAX_POOL: Final = 1_000
GUARDED_HITS: Final = 2
LONG_TEXT_CHARS: Final = 300

# What a row is worth to a question (chapter 03, 3.6 "neighbourhood signal"). Found on five LoCoMo
# conversations and flat around these values: each may move by a third and turn R@5 stays within 0.01
# (docs/benchmarks.md; `python -m bench locomo --data FILE` gives the figures). The first four add up to 1.
TURN_VECTOR_WEIGHT: Final = 0.2
WINDOW_VECTOR_WEIGHT: Final = 0.3
TURN_WORDS_WEIGHT: Final = 0.15
WINDOW_WORDS_WEIGHT: Final = 0.35
SPEAKER_BONUS: Final = 0.35  # the question names the one who says it
DATE_BONUS: Final = 0.25  # the question names the time it was said
SESSION_SHARE: Final = 0.35  # of the strength of the best rows of the same conversation
SESSION_BEST_ROWS: Final = 3
WINDOW_VECTOR_REACH: Final = 1  # rows on each side whose cosines are averaged
WINDOW_WORDS_REACH: Final = 2  # rows on each side whose words are joined
WINDOW_SATURATION: Final = 1.2  # k1 of BM25, over how many rows of a window have a term
# Messages that have no vector yet while their conversation goes on: question and answer of the last turns.
TRANSCRIPT_LAG: Final = 8
# An answer tells a deleted row when it has this part of the words by which that is known and which the
# question did not say. Low, because an answer may be the one word that was asked for.
RECITED_SHARE: Final = 0.25
# Shorter words are known by nothing: use, api, new.
RECITED_WORD_CHARS: Final = 4
# People tell of a day some days after it. 7 to 30 days give the same figures.
TOLD_AFTER_DAYS: Final = 14
TOLD_BEFORE_DAYS: Final = 1
# What age leaves of a row's worth. With 0 a half-life of 23 days alone decides what a prompt gets: the
# answer was among five rows for 0.10 of the questions of `bench locomo`, by explicit search for 0.56. A day
# after the last of some months of conversations 0.6 keeps 0.68 of what explicit search finds, 0.8 keeps 0.95
# and 0.9 keeps 0.98; with 1 age would not order at all.
AGE_FLOOR: Final = 0.8
# With no vectors at all the floors of admission have nothing to look at;
# half of the question's words must be there.
KEYWORD_RUNG_MIN_OVERLAP: Final = 0.5
SECONDS_PER_DAY: Final = 86_400.0
BULK_ROWS_PER_TRANSACTION: Final = 500  # keeps the write lock of a bulk import under half a second
ACCESS_FLUSH_SECONDS: Final = 2.0
# How long a count of a home's episodes is believed while ids say that it cannot be over the cap.
LIVE_COUNT_SECONDS: Final = 2.0
ACCESS_MAX_PENDING: Final = (
    5_000  # rows waiting to be marked as read; over it new marks are dropped, reads go on
)

# History (2.2; seed 004, "Decaying Memory").
HISTORY_FULL_DAYS: Final = 14
HISTORY_FIRST_ENTRY_DAYS: Final = 61
HISTORY_DAYS: Final = 181
HISTORY_TITLE_MAX_CHARS: Final = 200

# Documents and history at the reference window (2, table;
# seed 004, "Per-section caps"): int(165_000 x fraction).
CONTEXT_BUDGET_BASE_CHARS: Final = 165_000
PREFERENCES_MAX_CHARS: Final = int(CONTEXT_BUDGET_BASE_CHARS * 0.026)
PROJECTS_MAX_CHARS: Final = int(CONTEXT_BUDGET_BASE_CHARS * 0.039)
HISTORY_MAX_CHARS: Final = int(CONTEXT_BUDGET_BASE_CHARS * 0.16)

DIFF_CONTEXT_LINES: Final = 2  # equal lines around a change, so that it reads in its place
VERSIONS_LISTED: Final = 50  # of a document on its page; the list of the table has them all
EXPLAINED_EVENTS: Final = 20  # the last events and injections of a row tell its story; the trail keeps all
EXPLAINED_INJECTIONS: Final = 10
REVIEW_SUMMARY_MAX_CHARS: Final = 300
RECALL_TOOL_MAX_CHARS: Final = 3_000  # chapter 06, 6.4
RECALL_QUERY_MAX_CHARS: Final = 2_000
RECALL_TOOL_LIMIT: Final = 8
RECALL_TOOL_LIMIT_MAX: Final = 40
RECALL_TOOL_CHARS_LEAST: Final = 200  # room for one line
RECALL_TOOL_CHARS_MOST: Final = 15_000  # a tool's result is cut at 16,000 (chapter 05, 5.5)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines of one embedding model. They do not carry over: another model spreads its cosines otherwise.

    `latin_only`: the model was trained on English, so that it places texts of other scripts by accident.
    """

    near_duplicate: float
    relevance: float
    relevance_long: float
    latin_only: bool = False


# Those of the 0.6B model (seed 004, `_EPISODIC_RELEVANCE_THRESHOLD` and its neighbours),
# also used for unknown models.
SEED_THRESHOLDS: Final = Thresholds(near_duplicate=0.88, relevance=0.55, relevance_long=0.42)

THRESHOLDS: Final[dict[str, Thresholds]] = {
    "qwen3-embedding-0.6b": SEED_THRESHOLDS,
    # Derived by `python -m bench thresholds` from bench/thresholds.csv. Since the wording is judged too it
    # finds 0.86 for near-duplicates; kept higher, where nine rewordings in ten are caught and less waits for
    # review.
    "minilm-l6-v2": Thresholds(near_duplicate=0.89, relevance=0.31, relevance_long=0.19, latin_only=True),
}


def thresholds_for(model_id: str) -> Thresholds:
    return THRESHOLDS.get(model_id, SEED_THRESHOLDS)


# Layers 1 to 3 belong to a workspace; what stands above them is shared by all that have the same memory home.
OWN_LAYERS: Final = ("preferences", "projects", "history")

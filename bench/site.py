"""A throw-away site for benchmarks: migrated database, the real compact model, texts like memories."""

from __future__ import annotations

import os
import random
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Final

SUBJECTS: Final = (
    "the billing service",
    "Marta",
    "the staging cluster",
    "our mobile app",
    "the search page",
    "Jonas",
    "the data team",
    "the login form",
    "the nightly export",
    "the payment provider",
    "the design review",
    "the onboarding flow",
)
VERBS: Final = (
    "was moved to",
    "failed because of",
    "now depends on",
    "was rewritten for",
    "should be tested with",
    "was slowed down by",
    "got approved after",
    "is blocked by",
    "was rolled back after",
    "prefers",
)
OBJECTS: Final = (
    "a new PostgreSQL index",
    "the holiday traffic",
    "a memory leak in the worker",
    "version twelve of the client",
    "an expired certificate",
    "the quarterly audit",
    "a flaky browser test",
    "two missing translations",
    "the colour contrast rules",
    "a shorter cache time",
    "the blue deployment",
    "an unexpected schema change",
)
PLACES: Final = (
    "in Berlin",
    "last Tuesday",
    "before the release",
    "during the retrospective",
    "for the mobile customers",
    "on the second shard",
    "while Alice was away",
    "after the outage",
    "in the weekly meeting",
    "for ticket",
)


# How often the n-th word of a language occurs, in proportion: 1 / (n + 3) (Zipf and Mandelbrot).
VOCABULARY_WORDS: Final = 6_000
RANK_OFFSET: Final = 3
SHORTEST_WORD: Final = 3
NUMBERED_SHARE: Final = 0.3


def sentence(rng: random.Random, number: int) -> str:
    """Some 20 words: turns that recur in a twelfth of all texts, beside words as rare as those of a language
    are, names and numbers. The same generator state gives the same text."""
    words, frequencies = vocabulary()
    drawn = rng.choices(words, cum_weights=frequencies, k=9)
    subject = rng.choice(SUBJECTS) if rng.random() < 0.5 else drawn.pop().capitalize()
    named = f" {number}" if rng.random() < NUMBERED_SHARE else ""
    return (
        f"{subject} {rng.choice(VERBS)} {' '.join(drawn[:3])} {rng.choice(OBJECTS)}{named}"
        f" {' '.join(drawn[3:])} {rng.choice(PLACES)}"
    )


@lru_cache(maxsize=1)
def vocabulary() -> tuple[list[str], list[float]]:
    """English words, commonest first as the compact model's own word list has them, and the running sum of
    how often each occurs."""
    import gguf

    from crewsite.embeddings.service import get_embedder

    field = gguf.GGUFReader(str(get_embedder().path)).fields["tokenizer.ggml.tokens"]
    tokens = (bytes(field.parts[index]).decode().lstrip("\u2581") for index in field.data)
    words = [word for word in tokens if len(word) >= SHORTEST_WORD and word.isascii() and word.isalpha()]
    words = words[:VOCABULARY_WORDS]
    return words, list(accumulate(1 / (rank + RANK_OFFSET) for rank in range(len(words))))


def prepare() -> None:
    """Django with an empty migrated database and the compact model, borrowed from an existing home or
    built."""
    lent = Path(os.environ["CREW_BENCH_MODELS"]) / "minilm-l6-v2.gguf"
    if lent.exists():
        os.environ["CREW_EMBED_MODEL_PATH"] = str(lent)
    import django

    django.setup()
    from crewsite.setup import prepare_database, prepare_home, prepare_model
    from crewsite.startup import set_aside_what_is_loaded

    prepare_home()
    prepare_database()
    prepare_model()
    from crewsite.embeddings.service import get_embedder

    if not get_embedder().wait_ready(60):
        raise SystemExit("The compact model is not available; run `make install` first.")
    set_aside_what_is_loaded()  # as the web process does

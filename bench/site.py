"""A throw-away site for benchmarks: migrated database, the real compact model, texts like memories."""

from __future__ import annotations

import os
import random
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


def sentence(rng: random.Random, number: int) -> str:
    parts = (SUBJECTS, VERBS, OBJECTS, PLACES)
    return f"{' '.join(rng.choice(part) for part in parts)} {number} {rng.choice(OBJECTS)}"


def prepare() -> None:
    """Django with an empty migrated database and the compact model, borrowed from an existing home or
    built."""
    lent = Path(os.environ["CREW_BENCH_MODELS"]) / "minilm-l6-v2.gguf"
    if lent.exists():
        os.environ["CREW_EMBED_MODEL_PATH"] = str(lent)
    import django

    django.setup()
    from crewsite.setup import prepare_database, prepare_home, prepare_model

    prepare_home()
    prepare_database()
    prepare_model()
    from crewsite.embeddings.service import get_embedder

    if not get_embedder().wait_ready(60):
        raise SystemExit("The compact model is not available; run `make install` first.")

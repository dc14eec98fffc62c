"""From which cosine on a row is worth telling that shares no word with the question: the nearest row is
always found, and for "hello" it says nothing.
"""

from __future__ import annotations

import math

from crewsite.embeddings.service import get_embedder
from memory.changes import is_mostly_latin
from memory.constants import thresholds_for


def nearness_floor(question: str) -> float:
    """That of the running model, the same that admits rows to a prompt; none is near enough in a script that
    the model places by accident.
    """
    limits = thresholds_for(get_embedder().model_id)
    if limits.latin_only and not is_mostly_latin(question):
        return math.inf
    return limits.relevance


def is_worth_telling(*, cosine: float | None, legs: tuple[str, ...], floor: float) -> bool:
    """With a word of the question, or as near to it as the floor."""
    return "keyword" in legs or (cosine is not None and cosine >= floor)

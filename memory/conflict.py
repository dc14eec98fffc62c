"""Which of two values under one key stands (chapter 02, 2.3). Pure: the service reads, asks and writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from crewsite.security.origin import Source
from memory.constants import EQUAL_CONFIDENCE_WITHIN, FLOAT_SLACK
from memory.rules import same_value

Decision = Literal["create", "replace", "unchanged", "confirm", "skip"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement about a key."""

    value: Any
    source: str
    confidence: float

    @property
    def is_explicit(self) -> bool:
        return self.source == Source.USER_EXPLICIT


def decide(existing: Claim | None, incoming: Claim) -> Decision:
    """`confirm`: the same value, now said with more authority.
    The write being decided is by definition the newer.
    """
    if existing is None:
        return "create"
    outranks = incoming.is_explicit and not existing.is_explicit
    if same_value(existing.value, incoming.value):
        surer = incoming.is_explicit == existing.is_explicit and incoming.confidence > existing.confidence
        return "confirm" if outranks or surer else "unchanged"
    if incoming.is_explicit:
        return "replace"
    if existing.is_explicit:
        return "skip"
    close = existing.confidence - incoming.confidence <= EQUAL_CONFIDENCE_WITHIN + FLOAT_SLACK
    return "replace" if close else "skip"


def skip_reason(existing: Claim, incoming: Claim) -> str:
    """Why `decide` said `skip`, for the person or program that wrote."""
    if existing.is_explicit:
        return "A person set this value; only a person may replace it."
    return (
        f"The value there has a confidence of {existing.confidence:g},"
        f" more than {EQUAL_CONFIDENCE_WITHIN:g} above {incoming.confidence:g}."
    )

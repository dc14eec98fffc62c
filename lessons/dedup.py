"""Decides what a new rule does to the rules that are there: nothing, joins them, or takes their place.
Pure.

The order is chapter 02, 2.5: exact, substring, topic overlap, embedding. Only rules of one home and one
scope are compared. What the caller cannot know (cosines) comes in as a mapping; None means that there is no
embedder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from crewsite.security.text import fold
from lessons.constants import MAX_REPLACED, TOPIC_CANDIDATES, TOPIC_OVERLAP, Thresholds
from lessons.phrasing import contains, holds_elsewhere, is_same_choice, keywords, narrows, turns_round
from memory.changes import disagreement, is_placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# What two rules that mean the same may not differ in. Not names: rules that share few words differ in most.
_DECISIVE: Final = frozenset({"number", "date", "negation"})


@dataclass(frozen=True, slots=True)
class Rule:
    """A live rule as the decision sees it."""

    id: int
    text: str
    is_explicit: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """`keeper` is the rule that already says it (`exact`, `covered`); `superseded` are those that give way.

    `refused`: a person taught one of `superseded`, and whoever writes now is no person.
    """

    kind: Literal["exact", "covered", "insert", "enrich", "replace", "refused"]
    step: Literal["exact", "substring", "topic", "embedding", ""] = ""
    keeper: int | None = None
    superseded: tuple[int, ...] = ()


def decide(
    text: str,
    existing: Sequence[Rule],
    *,
    is_explicit: bool,
    cosines: Mapping[int, float] | None,
    thresholds: Thresholds,
) -> Decision:
    """`cosines` by rule id; a rule missing from them was not compared, and is not superseded by meaning. Of
    several rules that say it already the newest is the keeper."""
    folded = fold(text)
    existing = sorted(existing, key=lambda rule: -rule.id)
    for rule in existing:
        if fold(rule.text) == folded:
            return Decision("exact", "exact", keeper=rule.id)
    compared = [
        rule for rule in existing if not narrows(text, rule.text) and not holds_elsewhere(text, rule.text)
    ]
    decision = _by_substring(text, compared) or _by_topic(text, compared, cosines, thresholds)
    if decision is None and is_placed(text, thresholds):
        decision = _by_meaning(text, compared, cosines or {}, thresholds)
    if decision is None:
        return Decision("insert")
    explicit = {rule.id for rule in existing if rule.is_explicit}
    if not is_explicit and explicit.intersection(decision.superseded):
        return Decision("refused", decision.step, superseded=decision.superseded)
    return decision


def topic_candidates(text: str, existing: Iterable[Rule]) -> list[Rule]:
    """Rules that share at least half of the smaller keyword set, most shared first; only these need a
    cosine.
    """
    shared = [(topic_overlap(text, rule.text), rule) for rule in existing]
    close = [(overlap, rule) for overlap, rule in shared if overlap >= TOPIC_OVERLAP]
    close.sort(key=lambda pair: (-pair[0], -pair[1].id))
    return [rule for _, rule in close[:TOPIC_CANDIDATES]]


def topic_overlap(one: str, other: str) -> float:
    """Shared keywords as a part of the smaller set, 0..1. Rules without keywords share nothing."""
    first, second = keywords(one), keywords(other)
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else 0.0


def _by_substring(text: str, existing: Sequence[Rule]) -> Decision | None:
    for rule in existing:
        if contains(rule.text, text):
            return Decision("covered", "substring", keeper=rule.id)
    inside = tuple(rule.id for rule in existing if contains(text, rule.text))
    return Decision("enrich", "substring", superseded=inside) if inside else None


def _by_topic(
    text: str, existing: Sequence[Rule], cosines: Mapping[int, float] | None, thresholds: Thresholds
) -> Decision | None:
    candidates = topic_candidates(text, existing)
    if cosines is not None and is_placed(text, thresholds):
        near = [
            rule
            for rule in candidates
            if cosines.get(rule.id, -1.0)
            >= (thresholds.choice if _is_instead(text, rule.text) else thresholds.topic)
        ]
        candidates = sorted(near, key=lambda rule: -cosines[rule.id])
    elif cosines is not None:
        candidates = [rule for rule in candidates if _is_instead(text, rule.text) or _is_all(text, rule.text)]
    replaced = tuple(rule.id for rule in candidates[:MAX_REPLACED])
    return Decision("replace", "topic", superseded=replaced) if replaced else None


def _is_instead(text: str, other: str) -> bool:
    """Whether the form of a rule says that it takes another's place: one value for another, or the opposite
    of all the other says.
    """
    return (
        is_same_choice(text, other)
        or turns_round(text, other)
        or turns_round(other, text)
        or (_is_all(text, other) and disagreement(text, other) == "negation")
    )


def _is_all(text: str, other: str) -> bool:
    return topic_overlap(text, other) == 1.0


def _by_meaning(
    text: str, existing: Sequence[Rule], cosines: Mapping[int, float], thresholds: Thresholds
) -> Decision | None:
    """The longer of two rules that mean the same wins; where they disagree on a detail, the newer does."""
    near = sorted(
        (rule for rule in existing if cosines.get(rule.id, -1.0) > thresholds.same),
        key=lambda rule: -cosines[rule.id],
    )
    for rule in near:
        if len(rule.text) > len(text) and disagreement(text, rule.text) not in _DECISIVE:
            return Decision("covered", "embedding", keeper=rule.id)
    replaced = tuple(rule.id for rule in near[:MAX_REPLACED])
    return Decision("replace", "embedding", superseded=replaced) if replaced else None

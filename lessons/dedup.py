"""Decides what a new rule does to the rules that are there: nothing, joins them, or takes their place.
Pure.

The order is chapter 02, 2.5: exact, substring, topic overlap, embedding. Only rules of one home and one
scope are compared. What the caller cannot know (cosines) comes in as a mapping; None means that there is no
embedder.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from crewsite.search.words import STOP_WORDS
from crewsite.security.text import fold
from lessons.constants import (
    MAX_REPLACED,
    NEGATOR_REACH_WORDS,
    TOPIC_CANDIDATES,
    TOPIC_OVERLAP,
    Thresholds,
)
from lessons.vocabulary import ARTICLES, CHOICE_WORDS, NEGATORS, NEGATORS_BEHIND, PUNCTUATION, RULE_WORDS
from memory.changes import disagreement
from memory.words import detect_language, stem, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# What two rules that mean the same may not differ in. Not names: rules that share few words differ in most.
_DECISIVE: Final = frozenset({"number", "date", "negation"})
_FIRST_UNSPACED: Final = "\u2e80"  # CJK radicals begin here; kana, ideographs and Hangul follow


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
    """`cosines` by rule id; a rule missing from them was not compared, and is not superseded by meaning."""
    folded = fold(text)
    for rule in existing:
        if fold(rule.text) == folded:
            return Decision("exact", "exact", keeper=rule.id)
    decision = _by_substring(text, existing) or _by_topic(text, existing, cosines, thresholds)
    decision = decision or _by_meaning(text, existing, cosines or {}, thresholds)
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


@lru_cache(maxsize=16_384)
def keywords(text: str) -> frozenset[str]:
    """Folded, stemmed words without those of the language and those of giving rules."""
    language = detect_language(text)
    dropped = STOP_WORDS[language] | RULE_WORDS
    return frozenset(stem(word, language) for word in tokens(text) if word not in dropped)


def contains(longer: str, shorter: str) -> bool:
    """Whether one rule says the other word for word, and does not turn it round. Punctuation does not
    count.
    """
    haystack, needle = _spoken(longer), _spoken(shorter)
    size = len(needle)
    for start in range(len(haystack) - size + 1) if needle else ():
        if haystack[start : start + size] == needle:
            before = haystack[max(0, start - NEGATOR_REACH_WORDS) : start]
            behind = haystack[start + size : start + size + 1]
            return not (NEGATORS.intersection(before) or NEGATORS_BEHIND.intersection(behind))
    return _contains_unspaced(longer, shorter)


def is_same_choice(one: str, other: str) -> bool:
    """Whether two rules differ in one place only, where a value is chosen: "use X for indentation"."""
    first, second = _plain(one), _plain(other)
    edits = [
        op for op in SequenceMatcher(a=first, b=second, autojunk=False).get_opcodes() if op[0] != "equal"
    ]
    if len(edits) != 1 or edits[0][0] != "replace":
        return False
    start = edits[0][1]
    return start > 0 and first[start - 1] in CHOICE_WORDS


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
    if cosines is not None:
        near = [
            rule
            for rule in candidates
            if cosines.get(rule.id, -1.0)
            >= (thresholds.choice if is_same_choice(text, rule.text) else thresholds.topic)
        ]
        candidates = sorted(near, key=lambda rule: -cosines[rule.id])
    replaced = tuple(rule.id for rule in candidates[:MAX_REPLACED])
    return Decision("replace", "topic", superseded=replaced) if replaced else None


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


def _spoken(text: str) -> list[str]:
    """Words as people see them: `c++`, `node.js` and `don't` stay whole, sentence punctuation goes."""
    words = (word.strip(PUNCTUATION) for word in fold(text.replace("’", "'")).split())
    return [word for word in words if word]


def _plain(text: str) -> list[str]:
    return [word for word in _spoken(text) if word not in ARTICLES]


def _contains_unspaced(longer: str, shorter: str) -> bool:
    """Scripts without blanks have no words to compare: there a rule is inside another as a run of
    characters.
    """
    inner = fold(shorter)
    if not any(char >= _FIRST_UNSPACED for char in inner) or inner not in fold(longer):
        return False
    return disagreement(shorter, longer) != "negation"

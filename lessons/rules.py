"""What a rule, its negative, its category and its scope may be. Pure; each check names the rule it refuses
by.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from crewsite.security.text import clean, fold
from lessons.constants import (
    NEGATIVE_MAX_CHARS,
    RULE_MAX_CHARS,
    RULE_MIN_CHARS,
    SCOPE_MAX_CHARS,
)
from lessons.models import Lesson
from lessons.scopes import normal_scope
from lessons.vocabulary import VOLATILE_SELF_FACTS
from memory.results import Refusal


@dataclass(frozen=True, slots=True)
class Draft:
    """A lesson as somebody wants it, cleaned and on one line each; valid once `draft_refusal` has nothing
    to say.
    """

    rule: str
    negative: str = ""
    category: str = Lesson.Category.KNOWLEDGE
    scope: str = ""
    pinned: bool = False

    @property
    def rendered(self) -> str:
        return f"{self.rule} — NOT: {self.negative}" if self.negative else self.rule

    @property
    def key(self) -> str:
        return lesson_key(self.rule, self.scope)


def draft_of(*, rule: str, negative: str, category: str, scope: str, pinned: bool) -> Draft:
    return Draft(
        rule=_one_line(rule),
        negative=_one_line(negative),
        category=category.strip().lower(),
        scope=normal_scope(scope),
        pinned=pinned,
    )


def draft_refusal(draft: Draft) -> Refusal | None:
    """Why this is no lesson, or None. Texts that are too long are refused, never cut."""
    size = len(draft.rule)
    if size < RULE_MIN_CHARS:
        return Refusal("rule_short", f"A rule has at least {RULE_MIN_CHARS} characters; this one has {size}.")
    if size > RULE_MAX_CHARS:
        return Refusal("rule_long", f"A rule has at most {RULE_MAX_CHARS} characters; this one has {size}.")
    if not any(char.isalnum() for char in draft.rule):
        return Refusal("rule_empty", "A rule has words.")
    if len(draft.negative) > NEGATIVE_MAX_CHARS:
        return Refusal(
            "negative_long",
            f"What not to do has at most {NEGATIVE_MAX_CHARS} characters; this has {len(draft.negative)}.",
        )
    if draft.category not in Lesson.Category.values:
        return Refusal("category", f"A category is one of: {', '.join(Lesson.Category.values)}.")
    if len(draft.scope) > SCOPE_MAX_CHARS:
        return Refusal(
            "scope_long", f"A scope has at most {SCOPE_MAX_CHARS} characters; this has {len(draft.scope)}."
        )
    return None


def volatile_refusal(rule: str) -> Refusal | None:
    """Refuses statements about the assistant itself: the next model makes them false, and the lesson would
    stay.
    """
    if any(pattern.search(rule) for pattern in VOLATILE_SELF_FACTS):
        return Refusal(
            "volatile_self_fact",
            "The rule states what the assistant is or runs on. The next model makes it false: not kept.",
        )
    return None


def lesson_key(rule: str, scope: str) -> str:
    """`lesson.` and the md5 of folded rule and scope: an identity, not a protection."""
    joined = f"{fold(rule)}\x00{scope}".encode("utf-8", "surrogatepass")
    return f"lesson.{hashlib.md5(joined, usedforsecurity=False).hexdigest()}"


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())

"""What holds for any rules: what a new one does depends on what is there, not on how that is listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lessons.constants import MAX_REPLACED, thresholds_for
from lessons.dedup import Rule, decide
from lessons.models import Lesson
from lessons.phrasing import contains, narrows
from lessons.services import lesson_remove, lesson_write
from tests.factories import CONSOLIDATION, EXPLICIT

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

COMPACT = thresholds_for("minilm-l6-v2")
WORDS = st.sampled_from(
    [
        "use",
        "never",
        "tabs",
        "spaces",
        "for",
        "makefiles",
        "in",
        "tests",
        "dark",
        "light",
        "mode",
        "使用",
        "不要",
        "表",
    ]
)
RULES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)


@given(
    new=RULES,
    texts=st.lists(st.tuples(RULES, st.floats(-1, 1), st.booleans()), max_size=7),
    is_explicit=st.booleans(),
    has_embedder=st.booleans(),
    random=st.randoms(use_true_random=False),
)
def test_the_order_of_the_live_rules_decides_nothing(
    new: str, texts: list[tuple[str, float, bool]], is_explicit: bool, has_embedder: bool, random: Any
) -> None:
    rules = [Rule(number, text, explicit) for number, (text, _, explicit) in enumerate(texts, start=1)]
    cosines = (
        {number: cosine for number, (_, cosine, _) in enumerate(texts, start=1)} if has_embedder else None
    )
    decisions = [
        decide(new, listed, is_explicit=is_explicit, cosines=cosines, thresholds=COMPACT)
        for listed in (rules, rules[::-1], random.sample(rules, k=len(rules)))
    ]
    assert decisions[0] == decisions[1] == decisions[2]


@given(new=RULES, old=RULES, cosine=st.floats(-1, 1))
@example(new="use never", old="never use tabs for", cosine=0.9)
def test_a_rule_that_only_adds_a_condition_never_costs_the_general_one(
    new: str, old: str, cosine: float
) -> None:
    if narrows(new, old):
        decision = decide(
            new, [Rule(1, old, True)], is_explicit=True, cosines={1: cosine}, thresholds=COMPACT
        )
        assert decision.kind == "insert"
    assert narrows(new, old) == narrows(old, new)


@given(new=ANYTHING, old=ANYTHING)
def test_any_two_texts_can_be_compared(new: str, old: str) -> None:
    assert isinstance(narrows(new, old), bool)
    assert isinstance(contains(new, old), bool)


@given(new=RULES, old=st.lists(RULES, max_size=12), cosine=st.floats(0.5, 1))
def test_meaning_takes_the_place_of_a_few_rules_at_most(new: str, old: list[str], cosine: float) -> None:
    rules = [Rule(number, text, True) for number, text in enumerate(old, start=1)]
    cosines = {rule.id: cosine for rule in rules}
    decision = decide(new, rules, is_explicit=True, cosines=cosines, thresholds=COMPACT)
    assert decision.step == "substring" or len(decision.superseded) <= MAX_REPLACED


@pytest.mark.django_db
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.tuples(st.one_of(RULES, ANYTHING), st.booleans()), max_size=6), asked=ANYTHING)
def test_what_a_person_taught_gives_way_to_a_person_only(
    texts: list[tuple[str, bool]], asked: str, home: Workspace
) -> None:
    for text, by_person in texts:
        before = set(Lesson.objects.in_home(home).filter(source="user_explicit").values_list("pk", flat=True))
        result = lesson_write(home=home, rule=text, origin=EXPLICIT if by_person else CONSOLIDATION)
        assert by_person or before.isdisjoint(result.superseded)
    removal = lesson_remove(home=home, query=asked, origin=EXPLICIT)
    assert len(removal.removed) <= 1

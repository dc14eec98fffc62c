from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.constants import MAX_REPLACED, SEED_THRESHOLDS, thresholds_for
from lessons.dedup import Decision, Rule, contains, decide, is_same_choice, keywords, topic_overlap

COMPACT = thresholds_for("minilm-l6-v2")


def verdict(
    new: str,
    *old: str,
    cosine: float | None = None,
    cosines: dict[int, float] | None = None,
    is_explicit: bool = True,
    old_explicit: bool = True,
    thresholds=COMPACT,
) -> Decision:
    rules = [Rule(number, text, old_explicit) for number, text in enumerate(old, start=1)]
    if cosine is not None:
        cosines = {rule.id: cosine for rule in rules}
    return decide(new, rules, is_explicit=is_explicit, cosines=cosines, thresholds=thresholds)


def test_the_same_rule_in_other_letters_and_blanks_is_exact() -> None:
    assert verdict("Use  PYTEST", "use pytest") == Decision("exact", "exact", keeper=1)


def test_a_rule_inside_an_old_one_is_covered() -> None:
    assert verdict("use TypeScript", "always use TypeScript") == Decision("covered", "substring", keeper=1)


def test_an_old_rule_inside_the_new_one_gives_way() -> None:
    assert verdict("always use TypeScript", "use TypeScript") == Decision(
        "enrich", "substring", superseded=(1,)
    )


def test_several_old_rules_inside_the_new_one_all_give_way() -> None:
    decision = verdict("use TypeScript and write short functions", "use TypeScript", "write short functions")
    assert decision.superseded == (1, 2)


def test_sentence_punctuation_does_not_make_another_rule() -> None:
    assert verdict("Use TypeScript.", "use TypeScript").keeper == 1


@pytest.mark.parametrize(
    ("longer", "shorter"),
    [
        ("never use TypeScript", "use TypeScript"),
        ("don't ever use TypeScript", "use TypeScript"),
        ("do not use tabs here", "use tabs"),
        ("verwende Tabs nicht", "verwende Tabs"),
        ("n'utilise jamais ça", "ça"),
        ("不要使用暗色模式", "使用暗色模式"),
    ],
)
def test_a_negated_rule_does_not_contain_what_it_negates(longer: str, shorter: str) -> None:
    assert not contains(longer, shorter)


def test_words_are_compared_whole() -> None:
    assert not contains("use gopher charts", "use go")
    assert not contains("use C++ for kernels", "use C")


def test_scripts_without_blanks_are_compared_as_characters() -> None:
    assert contains("请一直使用暗色模式", "使用暗色模式")


def test_a_rule_turned_round_replaces_the_old_one() -> None:
    decision = verdict("never use tabs", "use tabs", cosine=0.9)
    assert (decision.kind, decision.superseded) == ("replace", (1,))


def test_dark_mode_gives_way_to_light_mode_at_the_cosine_the_compact_model_measures() -> None:
    decision = verdict("use light mode", "use dark mode", cosine=0.79)
    assert (decision.kind, decision.step, decision.superseded) == ("replace", "topic", (1,))


def test_dark_mode_gives_way_to_light_mode_without_an_embedder() -> None:
    assert verdict("use light mode", "use dark mode").superseded == (1,)


def test_tests_and_linter_both_live_at_the_cosine_the_compact_model_measures() -> None:
    decision = verdict(
        "always run the linter before a release", "always run the tests before a release", cosine=0.57
    )
    assert decision == Decision("insert")


def test_an_action_needs_more_likeness_than_a_choice() -> None:
    actions = ("back up the uploads before migrations", "back up the database before migrations")
    assert verdict(*actions, cosine=0.74) == Decision("insert")
    assert verdict("use spaces for indentation", "use tabs for indentation", cosine=0.64).kind == "replace"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("use tabs for indentation", "use spaces for indentation", True),
        ("answer in English", "answer in French", True),
        ("the default branch is master", "the default branch is main", True),
        ("check the logs after a deploy", "check the dashboards after a deploy", False),
        ("use snake_case for functions", "use PascalCase for classes", False),
        ("use pytest", "use pytest", False),
    ],
)
def test_a_choice_is_one_place_behind_a_choosing_word(one: str, other: str, same: bool) -> None:
    assert is_same_choice(one, other) is same


def test_overlap_alone_decides_nothing_while_there_are_cosines() -> None:
    assert verdict("use light mode", "use dark mode", cosines={}) == Decision("insert")


def test_less_than_half_of_the_keywords_is_another_topic() -> None:
    assert topic_overlap("review pull requests on Monday", "deploy releases on Monday") < 0.5
    assert verdict("review pull requests on Monday", "deploy releases on Monday", cosine=0.8) == Decision(
        "insert"
    )


def test_rules_that_share_only_words_of_giving_rules_share_nothing() -> None:
    assert topic_overlap("always use TypeScript", "always use pnpm") == 0.0


def test_keywords_are_stemmed_in_the_language_of_the_rule() -> None:
    assert keywords("verwende den dunklen Modus") & keywords("verwende den hellen Modus") == {"modus"}
    assert keywords("utilise le mode sombre") == {"mod", "sombr"}
    assert keywords("run the tests") == keywords("running tests")


def test_at_most_three_rules_give_way_by_topic_the_nearest_first() -> None:
    old = [f"deploy service number {word} by hand" for word in ("one", "two", "three", "four", "five")]
    decision = verdict(
        "deploy service number six by hand", *old, cosines={1: 0.8, 2: 0.9, 3: 0.7, 4: 0.95, 5: 0.85}
    )
    assert decision.superseded == (4, 2, 5)
    assert len(decision.superseded) == MAX_REPLACED


def test_of_two_rules_that_mean_the_same_the_longer_stays() -> None:
    longer = "reply tersely and to the point whatever the question"
    assert verdict("be brief", longer, cosine=0.9) == Decision("covered", "embedding", keeper=1)
    assert verdict(longer, "be brief", cosine=0.9) == Decision("replace", "embedding", superseded=(1,))


def test_a_longer_rule_that_disagrees_on_a_number_does_not_win() -> None:
    decision = verdict("cap uploads at 20 MB", "never let anybody post more than 10 megabytes", cosine=0.9)
    assert decision.kind == "replace"


def test_a_cosine_of_exactly_the_threshold_is_not_the_same() -> None:
    assert verdict("be brief", "reply tersely", cosine=0.85) == Decision("insert")


def test_only_a_person_replaces_what_a_person_taught() -> None:
    decision = verdict("use light mode", "use dark mode", cosine=0.79, is_explicit=False)
    assert (decision.kind, decision.superseded) == ("refused", (1,))
    freely = verdict("use light mode", "use dark mode", cosine=0.79, is_explicit=False, old_explicit=False)
    assert freely.kind == "replace"


def test_repeating_what_a_person_taught_is_no_conflict() -> None:
    assert verdict("use dark mode", "use dark mode", is_explicit=False).kind == "exact"
    assert verdict("dark mode", "use dark mode", is_explicit=False).kind == "covered"


def test_models_nobody_measured_use_the_thresholds_of_the_seed() -> None:
    assert thresholds_for("some-model") is SEED_THRESHOLDS
    assert (
        verdict("use light mode", "use dark mode", cosine=0.6, thresholds=SEED_THRESHOLDS).kind == "replace"
    )


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=6), st.booleans())
def test_any_text_gets_a_decision_about_rules_that_exist(new: str, old: list[str], explicit: bool) -> None:
    decision = verdict(new, *old, is_explicit=explicit)
    named = {*decision.superseded, *([decision.keeper] if decision.keeper else [])}
    assert named <= set(range(1, len(old) + 1))
    assert len(set(decision.superseded)) == len(decision.superseded)

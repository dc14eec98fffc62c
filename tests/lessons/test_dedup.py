from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.constants import MAX_REPLACED, SEED_THRESHOLDS, thresholds_for
from lessons.dedup import Decision, Rule, decide, topic_overlap

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
    assert decision.superseded == (2, 1)


def test_sentence_punctuation_does_not_make_another_rule() -> None:
    assert verdict("Use TypeScript.", "use TypeScript").keeper == 1


def test_a_rule_turned_round_replaces_the_old_one() -> None:
    decision = verdict("never use tabs", "use tabs", cosine=0.9)
    assert (decision.kind, decision.superseded) == ("replace", (1,))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It's a bad idea to use tabs", "use tabs"),
        ("Nobody should push to main", "push to main"),
        ("Rather than use yarn, use npm", "use yarn"),
        ("refuse to use emojis", "use emojis"),
    ],
)
@pytest.mark.parametrize("cosine", [None, 0.8])
def test_what_was_advised_against_gives_way_when_it_is_asked_for(
    old: str, new: str, cosine: float | None
) -> None:
    assert verdict(new, old, cosine=cosine).superseded == (1,)


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


def test_overlap_alone_decides_nothing_while_there_are_cosines() -> None:
    assert verdict("use light mode", "use dark mode", cosines={}) == Decision("insert")


def test_less_than_half_of_the_keywords_is_another_topic() -> None:
    assert topic_overlap("review pull requests on Monday", "deploy releases on Monday") < 0.5
    assert verdict("review pull requests on Monday", "deploy releases on Monday", cosine=0.8) == Decision(
        "insert"
    )


def test_rules_that_share_only_words_of_giving_rules_share_nothing() -> None:
    assert topic_overlap("always use TypeScript", "always use pnpm") == 0.0


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


@pytest.mark.parametrize(
    ("general", "conditional"),
    [
        ("use tabs", "use tabs for makefiles"),
        ("answer briefly", "when I write from my phone, answer briefly"),
        ("squash commits", "do not squash commits except on release branches"),
        ("use dark mode", "use light mode at night in presentations"),
        ("使用制表符", "在 Makefile 中使用制表符"),
    ],
)
@pytest.mark.parametrize("cosine", [None, 0.95])
def test_a_rule_that_only_adds_a_condition_and_the_general_rule_both_live(
    general: str, conditional: str, cosine: float | None
) -> None:
    assert verdict(conditional, general, cosine=cosine) == Decision("insert")
    assert verdict(general, conditional, cosine=cosine) == Decision("insert")


def test_a_rule_that_only_adds_detail_still_enriches() -> None:
    assert verdict("use TypeScript with strict types", "use TypeScript").kind == "enrich"
    assert verdict("use type hints in all code", "use type hints").kind == "enrich"
    assert (
        verdict("use conventional commits for commit messages", "use conventional commits").kind == "enrich"
    )


def test_the_opposite_of_all_an_old_rule_says_replaces_it_at_the_cosine_of_a_choice() -> None:
    rules = ("tu peux déployer le vendredi", "ne déploie jamais le vendredi")
    assert verdict(*rules, cosine=0.63).kind == "replace"


class TestScriptsTheModelDoesNotKnow:
    def test_cosines_decide_nothing(self) -> None:
        assert verdict("安装依赖前先询问", "删除文件前先询问", cosine=1.0) == Decision("insert")
        assert verdict("обновляй документацию", "запускай тесты", cosine=1.0) == Decision("insert")

    @pytest.mark.parametrize(
        ("new", "old"),
        [
            ("使用浅色模式", "使用深色模式"),
            ("不要使用表情符号", "可以使用表情符号"),
            ("日本語で回答してください", "英語で回答してください"),
            ("라이트 모드를 사용해", "다크 모드를 사용해"),
            ("используй светлую тему", "используй тёмную тему"),
        ],
    )
    def test_a_choice_or_the_opposite_takes_the_place_of_the_old_rule(self, new: str, old: str) -> None:
        assert verdict(new, old, cosine=0.3).superseded == (1,)

    def test_another_action_at_the_same_time_is_another_rule(self) -> None:
        assert verdict("发布前运行代码检查", "发布前运行测试", cosine=0.9) == Decision("insert")

    def test_a_model_that_knows_them_decides_by_cosine(self) -> None:
        rules = ("安装依赖前先询问", "删除文件前先询问")
        assert verdict(*rules, cosine=0.9, thresholds=SEED_THRESHOLDS).kind == "replace"


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

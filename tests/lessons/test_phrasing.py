from __future__ import annotations

import pytest

from lessons.phrasing import contains, holds_elsewhere, is_same_choice, keywords, narrows


@pytest.mark.parametrize(
    ("longer", "shorter"),
    [
        ("never use TypeScript", "use TypeScript"),
        ("don't ever use TypeScript", "use TypeScript"),
        ("do not use tabs here", "use tabs"),
        ("verwende Tabs nicht", "verwende Tabs"),
        ("n'utilise jamais ça", "ça"),
        ("不要使用暗色模式", "使用暗色模式"),
        ("It's a bad idea to use tabs", "use tabs"),
        ("Nobody should push to main", "push to main"),
        ("Rather than use yarn, use npm", "use yarn"),
        ("refuse to use emojis", "use emojis"),
        ("I hate it when you use emojis", "use emojis"),
        ("Do not, under any circumstances, use tabs", "use tabs"),
        ("Never use tabs and trailing blanks", "trailing blanks"),
        ("Ask me before you push to main", "push to main"),
        ("Niemand darf Tabs verwenden", "Tabs verwenden"),
    ],
)
def test_a_negated_rule_does_not_contain_what_it_negates(longer: str, shorter: str) -> None:
    assert not contains(longer, shorter)


@pytest.mark.parametrize(
    ("longer", "shorter"),
    [
        ("you should always use pytest", "use pytest"),
        ("Please make sure to run the tests", "run the tests"),
        ("use TypeScript and write short functions", "write short functions"),
        ("never use yarn, use npm", "use npm"),
        ("bitte immer Tabs verwenden", "Tabs verwenden"),
    ],
)
def test_a_rule_that_is_only_led_in_is_contained(longer: str, shorter: str) -> None:
    assert contains(longer, shorter)


def test_rules_for_two_cases_hold_side_by_side() -> None:
    german, english = "Format dates as DD.MM in German emails", "Format dates as MM/DD in English emails"
    assert holds_elsewhere(german, english)
    assert holds_elsewhere(english, german)
    assert not holds_elsewhere("answer in English", "answer in French")


def test_words_are_compared_whole() -> None:
    assert not contains("use gopher charts", "use go")
    assert not contains("use C++ for kernels", "use C")


def test_scripts_without_blanks_are_compared_as_characters() -> None:
    assert contains("请一直使用暗色模式", "使用暗色模式")


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


def test_keywords_are_stemmed_in_the_language_of_the_rule() -> None:
    assert keywords("verwende den dunklen Modus") & keywords("verwende den hellen Modus") == {"modus"}
    assert keywords("utilise le mode sombre") == {"mod", "sombr"}
    assert keywords("run the tests") == keywords("running tests")


def test_keywords_of_scripts_without_blanks_are_pairs_of_characters() -> None:
    assert keywords("请使用深色模式") == {"深色", "色模", "模式"}
    assert keywords("タブでインデントする") >= {"タブ", "イン"}
    assert keywords("提交前运行 pytest") == {"提交", "运行", "pytest"}


def test_korean_particles_make_no_other_word() -> None:
    assert keywords("테스트를 실행해") == keywords("테스트는 실행해")


@pytest.mark.parametrize(
    ("one", "other", "does"),
    [
        ("use tabs", "use tabs for makefiles", True),
        ("use tabs for makefiles", "use tabs", True),
        ("benutze Tabs", "benutze Tabs für Makefiles", True),
        ("use TypeScript", "always use TypeScript", False),
        ("deploy on Fridays", "never deploy on Fridays", False),
        ("use tabs for indentation", "use spaces for indentation", False),
        ("use async functions for network calls", "network calls should use async functions", False),
        ("format code before committing", "before committing format code", False),
        ("write tests with unittest", "write tests in pytest", False),
        ("use type hints", "use type hints in every module", False),
    ],
)
def test_a_condition_on_one_side_alone_narrows(one: str, other: str, does: bool) -> None:
    assert narrows(one, other) is does

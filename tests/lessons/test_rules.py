from __future__ import annotations

import pytest

from lessons.rules import Draft, draft_of, draft_refusal, lesson_key, volatile_refusal
from lessons.scopes import normal_scope, scopes_of


def draft(rule: str = "use pytest", **fields: object) -> Draft:
    values = {"rule": rule, "negative": "", "category": "knowledge", "scope": "", "pinned": False, **fields}
    return draft_of(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"rule": "ab"}, "rule_short"),
        ({"rule": "  a  "}, "rule_short"),
        ({"rule": "x" * 1001}, "rule_long"),
        ({"rule": "!!!???"}, "rule_empty"),
        ({"negative": "x" * 1001}, "negative_long"),
        ({"category": "habit"}, "category"),
        ({"scope": "a/" * 260}, "scope_long"),
    ],
)
def test_what_is_no_lesson_is_refused_by_the_name_of_its_rule(given: dict[str, str], code: str) -> None:
    refusal = draft_refusal(draft(**given))
    assert refusal is not None
    assert refusal.code == code
    assert refusal.message.endswith(".")


def test_three_and_a_thousand_characters_are_rules() -> None:
    assert draft_refusal(draft("DRY")) is None
    assert draft_refusal(draft("x" * 1000)) is None


def test_a_draft_is_clean_and_on_one_line() -> None:
    made = draft("  use\r\n pytest\x00  always ", negative="not\nunittest")
    assert (made.rule, made.negative) == ("use pytest always", "not unittest")
    assert made.rendered == "use pytest always — NOT: not unittest"


@pytest.mark.parametrize(
    "rule",
    [
        "you are model X",
        "You are GPT-4o",
        "you're now running on Claude Sonnet",
        "the assistant is powered by Qwen 3",
        "your model is gpt-5",
        "your context window is 200k tokens",
        "your knowledge cutoff is 2024",
        "tu es le modèle Mistral",
        "du bist Claude",
    ],
)
def test_volatile_statements_about_the_assistant_are_refused(rule: str) -> None:
    refusal = volatile_refusal(rule)
    assert refusal is not None
    assert refusal.code == "volatile_self_fact"


@pytest.mark.parametrize(
    "rule",
    [
        "you are allowed to edit the docs folder",
        "use the gpt-4o endpoint for summaries",
        "when you are done, run the tests",
        "the model of the car is a Clio",
        "our model lives in models.py",
        "I am Claude",
        "my model is the red one",
        "you are pair programming with a modeller",
    ],
)
def test_rules_that_only_look_like_it_are_kept(rule: str) -> None:
    assert volatile_refusal(rule) is None


def test_the_key_ignores_case_and_blanks_and_tells_scopes_apart() -> None:
    assert lesson_key("Use  Pytest", "") == lesson_key("use pytest", "")
    assert lesson_key("use pytest", "") != lesson_key("use pytest", "api")
    assert lesson_key("use", "pytest") != lesson_key("use pytest", "")


def test_a_scope_is_a_path_fragment_whatever_its_slashes() -> None:
    assert normal_scope(" /srv\\shop//api/ ") == "srv/shop/api"
    assert normal_scope("./") == ""


def test_a_project_lies_in_every_run_of_its_folders_and_in_no_part_of_a_name() -> None:
    scopes = scopes_of("/srv/shop/api")
    assert set(scopes) == {"srv", "shop", "api", "srv/shop", "shop/api", "srv/shop/api"}
    assert "sho" not in scopes_of("/srv/shop")
    assert scopes_of("") == []


def test_an_absurdly_deep_project_asks_for_a_bounded_number_of_scopes() -> None:
    assert len(scopes_of("/".join("abc" for _ in range(5000)))) <= 300

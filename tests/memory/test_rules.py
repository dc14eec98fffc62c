"""What may be stored: keys, values, confidences, texts, tags."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewsite.security.redaction import credential_families
from memory.constants import DEFAULT_IMPORTANCE, KEY_MAX_CHARS, VALUE_MAX_BYTES, VALUE_MAX_DEPTH
from memory.rules import (
    clamp_importance,
    clean_value,
    confidence_refusal,
    importance_refusal,
    key_refusal,
    merged_keys_refusal,
    parse_prefixes,
    parse_value,
    render_value,
    same_value,
    tags_of,
    text_refusal,
    value_refusal,
    value_words,
)


@pytest.mark.parametrize(
    "key", ["pref.a", "pref.editor", "project.api.v2_base", "user.name", "pref." + "a" * 95]
)
def test_good_keys_pass(key: str) -> None:
    assert key_refusal(key) is None


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("Pref.x", "key_format"),
        ("pref.", "key_format"),
        ("pref..x", "key_format"),
        ("pref.x_", "key_format"),
        ("pref.ünï", "key_format"),
        ("pref.x\n", "key_format"),
        ("1pref.x", "key_format"),
        ("", "key_format"),
        ("pref." + "a" * 96, "key_length"),
        ("secret.x", "key_prefix"),
        ("prefx", "key_prefix"),
        ("lesson.x", "key_prefix"),
    ],
)
def test_a_bad_key_is_refused_by_the_rule_it_breaks(key: str, code: str) -> None:
    refusal = key_refusal(key)
    assert refusal is not None
    assert refusal.code == code
    assert refusal.message


def test_configured_prefixes_open_further_keys_but_never_lessons() -> None:
    extra = parse_prefixes("team., infra. ,no-dot,UPPER.,lesson.")
    assert key_refusal("team.lead", extra_prefixes=extra) is None
    assert key_refusal("infra.host", extra_prefixes=extra) is None
    assert key_refusal("lesson.x", extra_prefixes=extra) is not None
    assert "no-dot" not in extra
    assert "UPPER." not in extra


@given(st.text(max_size=KEY_MAX_CHARS + 5))
def test_a_key_check_never_raises_and_passes_only_what_the_rule_says(key: str) -> None:
    if key_refusal(key) is None:
        assert key.isascii()
        assert key == key.lower()
        assert len(key) <= KEY_MAX_CHARS
        assert ".." not in key


def test_a_value_may_fill_its_bytes_but_not_pass_them() -> None:
    assert value_refusal("a" * (VALUE_MAX_BYTES - 2)) is None
    refusal = value_refusal("a" * (VALUE_MAX_BYTES - 1))
    assert refusal is not None
    assert refusal.code == "value_size"
    assert value_refusal("é" * ((VALUE_MAX_BYTES - 2) // 2)) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}, b"bytes"])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    refusal = value_refusal(value)
    assert refusal is not None
    assert refusal.code == "value_not_json"


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_an_empty_value_is_refused(value: object) -> None:
    refusal = value_refusal(value)
    assert refusal is not None
    assert refusal.code == "value_empty"


@pytest.mark.parametrize("value", [0, False, [], {}, "x", [1, {"a": None}]])
def test_falsy_values_are_values(value: object) -> None:
    assert value_refusal(value) is None


def test_two_keys_that_cleaning_makes_one_are_refused_and_no_value_is_lost() -> None:
    value = {"list": [{"a\x00": 1, "a": 2}]}
    refusal = merged_keys_refusal(value, clean_value(value))
    assert refusal is not None
    assert refusal.code == "value_keys"
    assert merged_keys_refusal({"a\x00": 1}, {"a": 1}) is None


def test_values_of_keys_that_differ_in_case_are_all_compared() -> None:
    assert same_value({"A": 1, "b": 2}, {"B": 2, "a": 1})
    assert not same_value({"A": 1, "a": 2}, {"A": 2, "a": 2})


def test_a_number_beyond_every_float_is_an_importance_out_of_range() -> None:
    assert importance_refusal(10**400) is None
    assert clamp_importance(10**400) == 1.0
    assert clamp_importance(-(10**400)) == 0.0


def test_texts_inside_a_value_are_cleaned_with_their_keys() -> None:
    assert clean_value({"a\x00": ["\u0000b", "\ud800c"], "n": 1}) == {"a": ["b", "c"], "n": 1}


def test_a_value_is_rendered_flat_with_its_keys() -> None:
    assert render_value({"editor": "vim", "tabs": [2, True]}) == "editor: vim tabs: 2 true"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("as it is", "as it is"),
        (["Tuesday", "Thursday"], "Tuesday, Thursday"),
        ({"uptime": "99.9 %", "hours": "24/7"}, "uptime 99.9 % · hours 24/7"),
        ([{"a": 1}, {"b": True}], "a 1; b true"),
        ([], "[]"),
        (8443, "8443"),
    ],
)
def test_a_value_reads_without_brackets(value: Any, words: str) -> None:
    assert value_words(value) == words


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Vim", "  vim ", True),
        ("ﬁle", "file", True),
        (["A", {"b": "C"}], ["a", {"B": "c"}], True),
        (1, True, False),
        ("1", 1, False),
        ("vim", "nvim", False),
        ([1, 2], [2, 1], False),
    ],
)
def test_values_are_equal_after_folding(one: object, other: object, *, same: bool) -> None:
    assert same_value(one, other) is same


def test_only_what_no_person_asked_for_passes_the_confidence_gate() -> None:
    low = confidence_refusal(0.79, is_explicit=False)
    assert low is not None
    assert low.code == "low_confidence"
    assert confidence_refusal(0.8, is_explicit=False) is None
    assert confidence_refusal(0.01, is_explicit=True) is None


@pytest.mark.parametrize("confidence", [-0.1, 1.1, math.nan, True, "1"])
def test_a_confidence_is_a_number_from_0_to_1(confidence: object) -> None:
    refusal = confidence_refusal(confidence, is_explicit=True)  # type: ignore[arg-type]
    assert refusal is not None
    assert refusal.code == "confidence_range"


def test_texts_have_bounds() -> None:
    assert text_refusal("a" * 10) is None
    assert text_refusal("a" * 2_000) is None
    assert (text_refusal("a" * 9) or pytest.fail()).code == "text_short"
    assert (text_refusal("a" * 2_001) or pytest.fail()).code == "text_long"


@given(st.floats())
def test_importance_always_lands_within_bounds(importance: float) -> None:
    assert 0 <= clamp_importance(importance) <= 1


def test_tags_are_folded_and_bad_ones_reported() -> None:
    tags = tags_of(["Work", "work", "two words", "ok_1", "x" * 33, "naïve", ""])
    assert tags.kept == ("work", "ok_1")
    assert tags.dropped == ("two words", "x" * 33, "naïve", "")


def test_at_most_ten_tags_are_kept() -> None:
    tags = tags_of([f"tag{number}" for number in range(12)])
    assert len(tags.kept) == 10
    assert tags.dropped == ("tag10", "tag11")


def test_a_number_too_long_to_write_is_refused() -> None:
    refusal = value_refusal(10**5_000)
    assert refusal is not None
    assert refusal.code == "value_not_json"


def nested(depth: int) -> object:
    value: object = "x"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def test_a_value_nested_too_deep_to_be_read_everywhere_is_refused() -> None:
    assert value_refusal(nested(VALUE_MAX_DEPTH)) is None
    for depth in (VALUE_MAX_DEPTH + 1, 480, 2_000):
        refusal = value_refusal(nested(depth))
        assert refusal is not None
        assert refusal.code == "value_depth"


@pytest.mark.parametrize("value", [{1: "a", "1": "b"}, [{None: 1}], {"a": {True: 1}}])
def test_names_inside_a_value_are_text(value: object) -> None:
    refusal = value_refusal(value)
    assert refusal is not None
    assert refusal.code == "value_not_json"


@pytest.mark.parametrize(
    "value",
    [
        {"password": "hunter2-hunter2"},
        {"db": {"api_key": "9f8e7d6c5b4a3f2e1d"}},
        {"token": ["tr0ub4dor&3xy"]},
    ],
)
def test_a_credential_named_by_a_key_is_seen_in_the_rendering(value: object) -> None:
    assert credential_families(render_value(value)) == ("password",)


@pytest.mark.parametrize(
    "typed",
    [
        "3.10",
        "1e5",
        "007",
        "+1",
        "-0",
        "1.0000000000000000001",
        "NaN",
        "Infinity",
        "1e999",
        "null",
        "vim",
        "[1,",
    ],
)
def test_a_typed_value_that_json_would_change_stays_text(typed: str) -> None:
    assert parse_value(typed) == typed


@pytest.mark.parametrize(
    ("typed", "value"),
    [("3.5", 3.5), (" 42 ", 42), ("-7", -7), ("true", True), ('{"a": [1]}', {"a": [1]}), ('"vim"', "vim")],
)
def test_a_typed_value_that_is_json_is_taken_as_such(typed: str, value: object) -> None:
    assert parse_value(typed) == value


@pytest.mark.parametrize("importance", [None, "0.7", "high", [1], math.nan])
def test_an_importance_that_is_no_number_counts_as_the_default(importance: object) -> None:
    assert clamp_importance(importance) == DEFAULT_IMPORTANCE


def test_a_number_too_large_for_a_float_is_the_highest_importance() -> None:
    assert clamp_importance(10**400) == 1.0
    assert clamp_importance(-(10**400)) == 0.0


@pytest.mark.parametrize("text", ["\u200b" * 20, "\ufeff\u2060 \u200d" * 9, "\u3164" * 12, "\u0301" * 12])
def test_a_text_with_nothing_to_see_is_no_episode(text: str) -> None:
    assert (text_refusal(text) or pytest.fail()).code == "text_short"


@pytest.mark.parametrize("text", ["\U0001f98a" * 10, "生存等于正确生存等于正", "\u200bשלום עולם יפה"])
def test_a_text_of_any_script_is_an_episode(text: str) -> None:
    assert text_refusal(text) is None


def test_the_prefixes_of_a_key_are_told_without_commas_after_their_dots() -> None:
    refused = key_refusal("secret.x")
    assert refused is not None
    assert refused.message == "A key starts with one of these: pref. project. user."

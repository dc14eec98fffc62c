from __future__ import annotations

import pytest
from constance.test import override_config

from memory.context.windows import parse_windows, resolve_model_window

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("model", ["", None, "auto", "some-new-model", "qwen3:8b", "llama3.2"])
def test_what_is_not_surely_known_has_no_window(model: str | None) -> None:
    assert resolve_model_window(model) is None


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("gpt-4o", 128_000),
        ("gpt-4o-mini", 128_000),
        ("GPT-4o-2024-11-20", 128_000),
        ("openai:gpt-4.1", 1_047_576),
        ("anthropic/claude-sonnet-4-5-20250929", 200_000),
        ("anthropic:claude-sonnet-4[1m]", 1_000_000),
        ("any-model[1M]", 1_000_000),
    ],
)
def test_known_models_are_found_under_their_provider_date_and_size(model: str, tokens: int) -> None:
    assert resolve_model_window(model) == tokens


def test_a_successor_with_another_number_is_not_its_predecessor() -> None:
    assert resolve_model_window("gpt-5.1") is None
    assert resolve_model_window("claude-sonnet-4-9") is None


@override_config(MODEL_WINDOWS="qwen3:8b=40_960, gpt-4o = 64000")
def test_the_live_setting_adds_models_and_overrides_the_list() -> None:
    assert resolve_model_window("qwen3:8b") == 40_960
    assert resolve_model_window("ollama/qwen3:8b") == 40_960
    assert resolve_model_window("gpt-4o") == 64_000


def test_what_is_no_pair_in_the_setting_is_left_out() -> None:
    assert parse_windows("a=10,\nb=x, =5, c, d=0, e=1_000") == {"a": 10, "e": 1_000}

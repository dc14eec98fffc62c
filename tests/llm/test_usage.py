"""What models used, by day, and what it costs where that is known."""

from __future__ import annotations

import datetime as dt

import pytest

from crewsite.llm.targets import Target
from crewsite.llm.usage import price_of, usage_by_day, usage_record

NOW = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)
USED = {"input_tokens": 1_000, "output_tokens": 100}


def target(base_url: str, model: str = "gpt-5", provider: str = "openai") -> Target:
    return Target("x", "x", provider, model, base_url)


@pytest.mark.django_db
def test_calls_of_a_day_add_up_and_old_days_fall_out() -> None:
    for model in ("a", "b"):
        usage_record(model=model, purpose="chat", seconds=1.5, **USED, cost_usd=0.25, now=NOW)
    usage_record(model="a", purpose="chat", seconds=1, failed=True, now=NOW)
    usage_record(model="a", purpose="chat", seconds=1, now=NOW - dt.timedelta(days=14))
    (day,) = usage_by_day(days=14, now=NOW)
    assert (day.calls, day.failures, day.input_tokens, day.output_tokens) == (3, 1, 2_000, 200)
    assert (day.seconds, day.cost_usd, day.is_partly_priced) == (4.0, 0.5, False)


@pytest.mark.django_db
def test_a_cost_that_is_not_known_is_not_nothing() -> None:
    usage_record(model="a", purpose="chat", seconds=1, **USED, now=NOW)
    assert usage_by_day(days=1, now=NOW)[0].cost_usd is None
    usage_record(model="b", purpose="chat", seconds=1, cost_usd=0.0, now=NOW)
    (day,) = usage_by_day(days=1, now=NOW)
    assert (day.cost_usd, day.is_partly_priced) == (0.0, True)


def test_public_prices_hold_at_the_makers_own_address_only() -> None:
    price = price_of(target("https://api.openai.com/v1"), USED)
    assert price is not None
    assert price > 0
    assert price_of(target("https://gateway.example/v1"), USED) is None
    assert price_of(target("https://api.openai.com/v1", "no-such-model"), USED) is None
    assert price_of(target("", "/m.gguf", "llama"), USED) == 0.0

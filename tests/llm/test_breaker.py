from __future__ import annotations

import pytest

from crewsite.llm.breaker import Breaker
from crewsite.llm.errors import LlmError


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_four_failures_leave_it_closed(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    for _ in range(4):
        breaker.failed()
    breaker.check()


def test_the_fifth_failure_in_a_row_opens_it_for_a_minute(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    for _ in range(5):
        breaker.failed()
    with pytest.raises(LlmError) as raised:
        breaker.check()
    assert raised.value.retryable
    assert "60 s" in raised.value.reason
    clock.now = 59.9
    with pytest.raises(LlmError):
        breaker.check()
    clock.now = 60.0
    breaker.check()


def test_a_success_starts_the_count_anew(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    for _ in range(4):
        breaker.failed()
    breaker.succeeded()
    breaker.failed()
    breaker.check()


def test_one_failure_after_the_minute_opens_it_again(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    for _ in range(5):
        breaker.failed()
    clock.now = 61.0
    breaker.failed()
    assert breaker.open_for_s == 60.0

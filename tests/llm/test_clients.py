"""A conversation that keeps failing gets a client of its own."""

from __future__ import annotations

from crewsite.llm.clients import close_http_client, http_client, turn_failed, turn_succeeded
from crewsite.llm.constants import RESET_AFTER_FAILURES


async def test_five_failed_turns_in_a_row_give_a_conversation_a_new_client() -> None:
    shared = http_client("a")
    assert http_client("b") is shared
    for _ in range(RESET_AFTER_FAILURES - 1):
        assert not await turn_failed("a")
    assert http_client("a") is shared
    assert await turn_failed("a")
    own = http_client("a")
    assert own is not shared
    assert http_client("a") is own
    assert http_client("b") is shared
    for _ in range(RESET_AFTER_FAILURES):
        await turn_failed("a")
    assert own.is_closed
    assert not http_client("a").is_closed
    await close_http_client()


async def test_a_success_between_starts_the_count_anew() -> None:
    shared = http_client("c")
    for _ in range(RESET_AFTER_FAILURES - 1):
        await turn_failed("c")
    turn_succeeded("c")
    for _ in range(RESET_AFTER_FAILURES - 1):
        assert not await turn_failed("c")
    assert http_client("c") is shared
    await close_http_client()

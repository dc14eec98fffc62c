"""Threads that work on rows wait while the event loop is late, and not for long."""

from __future__ import annotations

import asyncio
import time

import pytest

from crewsite.chat.giving_way import LATE_S, LOOK_EVERY_S, WAIT_MAX_S, LoopWatch, loop_watch
from crewsite.chat.threads import in_database

BLOCKED_S = 4 * (LOOK_EVERY_S + LATE_S + WAIT_MAX_S)


def statement(watch: LoopWatch, *, after_s: float = 0.0) -> float:
    """Seconds that a statement of another thread waits."""
    time.sleep(after_s)
    start = time.monotonic()
    watch.give_way(lambda *_: None, "SELECT 1", (), False, {})
    return time.monotonic() - start


async def test_a_statement_waits_for_a_late_loop_and_a_moment_at_most() -> None:
    watch = loop_watch()
    with watch.working():
        waiting = asyncio.to_thread(statement, watch, after_s=LOOK_EVERY_S + 2 * LATE_S)
        task = asyncio.create_task(waiting)
        await asyncio.sleep(0)
        time.sleep(BLOCKED_S)  # the loop is kept from its work
        waited_s = await task
    assert WAIT_MAX_S * 0.8 <= waited_s < BLOCKED_S


async def test_a_statement_does_not_wait_for_a_loop_that_is_in_time() -> None:
    watch = loop_watch()
    with watch.working():
        assert await asyncio.to_thread(statement, watch) < WAIT_MAX_S


async def test_nobody_looks_at_a_loop_without_work_that_gives_way() -> None:
    watch = loop_watch()
    with watch.working():
        await asyncio.sleep(2 * LOOK_EVERY_S)
    await asyncio.sleep(3 * LOOK_EVERY_S)
    time.sleep(BLOCKED_S)
    assert not watch.is_late


@pytest.mark.django_db(transaction=True)
async def test_work_that_ends_and_begins_again_looks_at_the_loop_once() -> None:
    for _ in range(5):
        assert await in_database(lambda: 1) == 1
    pending = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
    assert len([handle for handle in pending if "LoopWatch" in repr(handle)]) == 1

"""Pacing, bounded queues and limits: no rows, no model."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from crewsite.chat.constants import COALESCE_CHARS
from crewsite.chat.hub import Hub, Subscription
from crewsite.chat.limits import RateLimit
from crewsite.chat.live import LiveTurn
from crewsite.chat.payloads import Frame, frame
from crewsite.security.text import clean


async def test_a_piece_goes_out_at_once_and_those_of_the_next_20_ms_together() -> None:
    sent: list[Frame] = []
    live = LiveTurn(uuid4(), sent.append)
    for piece in ("a", "b", "c"):
        live.add_text(piece)
    assert [(item["offset"], item["text"]) for item in sent] == [(0, "a")]
    while len(sent) == 1:
        await asyncio.sleep(0.01)
    assert [(item["offset"], item["text"]) for item in sent[1:]] == [(1, "bc")]
    await asyncio.sleep(0.05)
    live.add_text("d")
    assert sent[2]["text"] == "d"


async def test_200_characters_go_out_at_once() -> None:
    sent: list[Frame] = []
    live = LiveTurn(uuid4(), sent.append)
    live.add_text("x" * COALESCE_CHARS)
    assert len(sent) == 1


async def test_text_before_a_tool_is_told_before_the_tool() -> None:
    sent: list[Frame] = []
    live = LiveTurn(uuid4(), sent.append)
    live.add_text("before")
    live.add_tool({"id": "1", "name": "t", "state": "running", "args_summary": ""})
    assert [item["type"] for item in sent] == ["delta", "tool"]


async def test_a_call_stays_where_it_started() -> None:
    sent: list[Frame] = []
    live = LiveTurn(uuid4(), sent.append)
    live.add_text("before")
    for state in ("running", "done"):
        live.add_tool({"id": "1", "name": "t", "state": state, "args_summary": ""})
        live.add_text("after")
    assert [item["at"] for item in sent if item["type"] == "tool"] == [6, 6]
    assert live.tool_calls[0]["at"] == 6


@given(st.lists(st.text(max_size=300), max_size=30))
def test_the_pieces_make_the_whole_text_in_order(pieces: list[str]) -> None:
    async def play() -> tuple[list[Frame], str]:
        sent: list[Frame] = []
        live = LiveTurn(uuid4(), sent.append)
        for piece in (*pieces, "end"):
            live.add_text(piece)
        live.flush()
        return sent, live.text

    sent, text = asyncio.run(play())
    assert text == clean("".join(pieces) + "end")
    got = ""
    for item in sent:
        assert item["offset"] == len(got)
        got += item["text"]
    assert got == text


async def test_a_listener_that_falls_behind_is_told_to_catch_up_and_holds_no_one_up() -> None:
    subscription = Subscription(uuid4(), size=3)
    for number in range(100):
        subscription.put(frame("delta", number=number))
    items = [await subscription.get() for _ in range(subscription.waiting)]
    assert None in items
    assert len(items) <= 3


async def test_every_listener_of_a_conversation_hears_and_no_other() -> None:
    hub = Hub()
    here, there = uuid4(), uuid4()
    first, second, other = hub.subscribe(here), hub.subscribe(here), hub.subscribe(there)
    hub.publish(here, frame("ping"))
    assert (first.waiting, second.waiting, other.waiting) == (1, 1, 0)
    hub.unsubscribe(first)
    hub.publish(here, frame("ping"))
    assert (first.waiting, second.waiting) == (1, 2)


def test_a_limit_counts_a_sliding_minute_for_each_key() -> None:
    now = 0.0
    limit = RateLimit(2, clock=lambda: now)
    assert limit.allow("a")
    assert limit.allow("a")
    assert not limit.allow("a")
    assert limit.allow("b")
    now = 60.0
    assert limit.allow("a")


def test_threads_may_count_at_the_same_time() -> None:
    limit = RateLimit(1)

    def count(thread: int) -> int:
        return sum(limit.allow((thread, number)) for number in range(300))

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(count, range(4))) == [300] * 4


def test_keys_that_are_idle_are_forgotten() -> None:
    now = 0.0
    limit = RateLimit(2, clock=lambda: now)
    for number in range(50):
        limit.allow(number)
    now = 100.0
    limit.allow("new")
    assert limit.keys == 1

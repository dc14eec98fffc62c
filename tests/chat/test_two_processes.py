"""Two web processes on one home, without Redis: a turn that runs in one of them is seen in the other, and a
tool call that asks is answered there."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from tests.chat.client import ChatClient
from tests.llm_server import LlmServer
from tests.site import Seat, Site, make_seats, running_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.chat.client import Frame

pytestmark = pytest.mark.sqlite_only
ASK = "from constance import config\nconfig.CHAT_TOOLS_APPROVED = 'memory_*'"
NOBODY_ASKS = ASK.replace("'memory_*'", "'*'")
ANSWER_SECONDS = 1.0


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[tuple[Site, Site]]:
    with LlmServer() as llm, running_site(tmp_path / "home", **llm.environment()) as one:
        one.run(ASK)
        other = Site(one.home, llm.environment())
        other.start()
        yield one, other
        other.stop()


async def asked(chat: ChatClient) -> Frame:
    async with asyncio.timeout(20):
        while (card := await chat.receive("tool"))["state"] != "asking":
            pass
    return card


def rules(site: Site) -> list[str]:
    return [row[0] for row in site.query("SELECT rule FROM lessons_lesson")]


async def test_a_question_of_one_process_is_answered_through_the_other(sites: tuple[Site, Site]) -> None:
    one, other = sites
    seat = make_seats(one, 1)[0]
    for choice, state in (("allow", "running"), ("deny", "denied")):
        async with ChatClient(one, seat) as chat:
            await chat.send(f'[script:learn rule="Always moor at the {choice} buoy"]')
            card = await asked(chat)
            async with ChatClient(other, seat) as elsewhere:
                shown = await asked(elsewhere)
                assert shown["choices"] == card["choices"]
                answered_at = time.monotonic()
                await elsewhere.say("answer", turn=shown["turn"], call=shown["id"], choice=choice)
                assert (await chat.receive("tool"))["state"] == state
                assert time.monotonic() - answered_at < ANSWER_SECONDS
                done = await elsewhere.end()
            assert done["message"]["content"].endswith("and the answer goes on.")
            assert (await chat.end())["message"]["content"] == done["message"]["content"]
    assert rules(one) == ["Always moor at the allow buoy"]


async def test_when_the_process_that_asked_dies_the_turn_can_be_tried_again(sites: tuple[Site, Site]) -> None:
    one, other = sites
    seat: Seat = make_seats(one, 1)[0]
    async with ChatClient(one, seat) as chat:
        await chat.send('[script:learn rule="Always moor at the stern"]')
        await asked(chat)
        async with ChatClient(other, seat) as elsewhere:
            shown = await asked(elsewhere)
            one.kill()
            await elsewhere.say("answer", turn=shown["turn"], call=shown["id"], choice="allow")
            assert (await elsewhere.receive("error"))["code"] == "not_asked"
            failed = await elsewhere.end()
            assert (failed["type"], failed["retryable"]) == ("turn.failed", True)
            assert failed["message"]["content"] == "Before the tool. "
            assert not rules(other)

            await elsewhere.say("retry", turn=shown["turn"])
            again = await asked(elsewhere)
            await elsewhere.say("answer", turn=again["turn"], call=again["id"], choice="allow")
            done = await elsewhere.receive("turn.done")
            assert done["message"]["content"].endswith("and the answer goes on.")
    assert rules(other) == ["Always moor at the stern"]
    roles = other.query("SELECT role FROM conversations_message ORDER BY seq")
    assert roles == [("user",), ("assistant",)]


async def test_a_tab_of_one_process_sees_a_turn_that_starts_in_the_other(sites: tuple[Site, Site]) -> None:
    one, other = sites
    seat = make_seats(one, 1)[0]
    one.run(NOBODY_ASKS)
    async with ChatClient(one, seat) as chat, ChatClient(other, seat) as elsewhere:
        for text in ("[script:stream n=60 delay=0.04]", "and one that is over before anybody looks"):
            await chat.send(text)
            shown = await elsewhere.receive("message")
            assert (shown["message"]["role"], shown["message"]["content"]) == ("user", text)
            done = await elsewhere.end()
            mine = await chat.end()
            assert done["message"]["content"] == mine["message"]["content"]
        streamed = [frame for frame in elsewhere.frames if frame["type"] == "delta"]
        assert len(streamed) > 1  # while it was written
        kinds = [
            frame["type"] for frame in elsewhere.frames if frame["type"] not in {"delta", "ping", "title"}
        ]
        assert kinds.count("message") == kinds.count("turn.done") == 2
        await elsewhere.command("/help")
        assert (await chat.ask("in the first again"))["type"] == "turn.done"
        assert (await elsewhere.end())["message"]["content"]


async def test_questions_of_one_conversation_are_answered_in_order_whichever_process_got_them(
    sites: tuple[Site, Site],
) -> None:
    one, other = sites
    seat = make_seats(one, 1)[0]
    async with ChatClient(one, seat) as chat, ChatClient(other, seat) as elsewhere:
        await chat.send("[script:stream n=40 delay=0.03]")
        await chat.receive("delta")
        await elsewhere.say("send", client_key="second", text="[script:stream n=2]")
        async with asyncio.timeout(20):
            while len(elsewhere.of("turn.done")) < 2:
                await elsewhere.end()
    (first, second) = one.query(
        "SELECT finished_at, started_at, state FROM chat_turn ORDER BY created_at, started_at"
    )
    assert (first[2], second[2]) == ("done", "done")
    assert second[1] >= first[0]

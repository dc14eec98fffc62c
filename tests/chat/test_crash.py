"""The server is killed in the middle of an answer and started again (05.7 item 3)."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

import pytest
import websockets

from tests.chat.client import ChatClient
from tests.llm_server import LlmServer, Reply, text_reply
from tests.site import Seat, Site, make_seats, running_site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.sqlite_only
PARTIAL = "one two three "


def answers(site: Site) -> list[tuple[str, str]]:
    return site.query("SELECT content, finish_reason FROM conversations_message WHERE role = 'assistant'")


async def killed_in_the_middle(site: Site, seat: Seat, llm: LlmServer) -> str:
    """The turn that was running when the server died."""
    llm.queue.append(Reply(chunks=["one ", "two ", "three ", "four"], gate=threading.Event()))
    async with ChatClient(site, seat) as chat:
        sent = await chat.send("count to four")
        deadline = time.monotonic() + 10
        while answers(site) != [(PARTIAL, "")]:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        site.kill()
        with pytest.raises(websockets.ConnectionClosed):
            await chat.receive("turn.done")
    turn: str = sent["message"]["turn"]
    return turn


async def test_a_killed_server_leaves_an_interrupted_answer_that_a_retry_completes(tmp_path: Path) -> None:
    with LlmServer() as llm, running_site(tmp_path / "home", **llm.environment()) as site:
        seat = make_seats(site, 1)[0]
        turn = await killed_in_the_middle(site, seat, llm)
        site.start()
        async with ChatClient(site, seat) as chat:
            assert chat.hello["turn"] is None
            await chat.say("resume", after_seq=0, turn=turn, offset=len(PARTIAL))
            failed = await chat.end()
            assert (failed["type"], failed["retryable"]) == ("turn.failed", True)
            assert failed["message"]["content"] == PARTIAL
            assert failed["message"]["finish_reason"] == "interrupted"

            llm.queue.append(text_reply("one two three four"))
            await chat.say("retry", turn=turn)
            done = await chat.receive("turn.done")
            assert done["message"]["content"] == "one two three four"
        rows = site.query("SELECT role, content, finish_reason FROM conversations_message ORDER BY seq")
        assert rows == [("user", "count to four", ""), ("assistant", "one two three four", "stop")]

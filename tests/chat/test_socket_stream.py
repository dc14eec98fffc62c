"""Streaming over a real socket of a real server: order, reconnects, several tabs, stop, waiting (05.7 item
2)."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.chat.client import ChatClient
from tests.llm_server import LlmServer, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.site import Seat, Site

pytestmark = pytest.mark.sqlite_only
WORDS = [f"word{number} " for number in range(40)]
WHOLE = "".join(WORDS)


@pytest.fixture
def gate(llm: LlmServer) -> Iterator[threading.Event]:
    """The next answer stops after three pieces until the gate is set."""
    opened = threading.Event()
    llm.queue.append(Reply(chunks=WORDS, delay_s=0.03, gate=opened))
    yield opened
    opened.set()


async def test_every_character_arrives_once_and_in_order(site: Site, seat: Seat, llm: LlmServer) -> None:
    async with ChatClient(site, seat) as chat:
        done = await chat.ask("[script:stream n=300 delay=0.001]")
        expected = "".join(f"word{number} " for number in range(300))
        assert done["message"]["content"] == expected
        assert chat.streamed() == expected
        offset = 0
        for frame in chat.of("delta"):
            assert frame["offset"] == offset
            offset += len(frame["text"])
        kinds = [frame["type"] for frame in chat.frames]
        assert kinds[:3] == ["hello", "message", "turn.started"]
        assert kinds[-1] == "turn.done"
        assert len(chat.of("delta")) < 300


async def test_a_socket_closed_after_three_pieces_gets_the_whole_answer_once(
    site: Site, seat: Seat, gate: threading.Event
) -> None:
    async with ChatClient(site, seat) as chat:
        sent = await chat.send("hello")
        had = ""
        while len(had) < len("".join(WORDS[:3])):
            had += await chat.read_deltas(1)
        turn, seq = sent["message"]["turn"], sent["message"]["seq"]
    async with ChatClient(site, seat) as again:
        assert again.hello["turn"] == turn
        await again.say("resume", after_seq=seq, turn=turn, offset=len(had))
        gate.set()
        done = await again.end()
        assert had + again.streamed() == WHOLE
        assert done["message"]["content"] == WHOLE
        assert again.of("message") == []


async def test_an_answer_is_finished_while_nobody_listens(
    site: Site, seat: Seat, gate: threading.Event
) -> None:
    async with ChatClient(site, seat) as chat:
        sent = await chat.send("hello")
        await chat.read_deltas(1)
    gate.set()
    deadline = time.monotonic() + 15
    while not site.query("SELECT 1 FROM chat_turn WHERE state = 'done' AND id = ?", hexed(sent)):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)
    async with ChatClient(site, seat) as again:
        await again.say("resume", after_seq=sent["message"]["seq"])
        answer = await again.receive("message")
        assert answer["message"]["content"] == WHOLE
        assert answer["message"]["finish_reason"] == "stop"


def hexed(sent: dict[str, dict[str, str]]) -> str:
    return sent["message"]["turn"].replace("-", "")


async def test_a_tab_that_asks_for_nothing_gets_the_running_answer_from_its_start(
    site: Site, seat: Seat, gate: threading.Event
) -> None:
    async with ChatClient(site, seat) as chat, ChatClient(site, seat) as early:
        await chat.send("hello")
        await chat.read_deltas(1)
        async with ChatClient(site, seat) as late:
            await late.receive("delta")
            gate.set()
            for tab in (chat, early, late):
                await tab.end()
                assert tab.streamed() == WHOLE


async def test_the_same_client_key_twice_is_one_message(site: Site, seat: Seat, llm: LlmServer) -> None:
    key = str(uuid4())
    async with ChatClient(site, seat) as chat:
        first = await chat.send("[script:stream n=3]", client_key=key)
        done = await chat.end()
    async with ChatClient(site, seat) as again:
        second = await again.send("[script:stream n=3]", client_key=key)
        assert second["message"]["id"] == first["message"]["id"]
        assert (await again.end())["message"] == done["message"]
        await again.say("resume", after_seq=0)
        await again.say("command", text="/help")
        await again.receive("notice")
        said = [frame["message"]["role"] for frame in again.of("message")]
        assert said == [
            "user",
            "user",
            "assistant",
        ]  # the confirmation, then the transcript: one question, one answer
    assert len(llm.requests) == 1


async def test_a_stop_keeps_what_was_produced(site: Site, seat: Seat, gate: threading.Event) -> None:
    async with ChatClient(site, seat) as chat:
        sent = await chat.send("hello")
        while len(chat.streamed()) < len("".join(WORDS[:3])):
            await chat.read_deltas(1)
        await chat.say("stop", turn=sent["message"]["turn"])
        done = await chat.receive("turn.done")
        assert done["finish_reason"] == "stopped"
        assert done["message"]["content"] == chat.streamed() == "".join(WORDS[:3])
        gate.set()
        again = await chat.ask("[script:stream n=2]")
        assert again["message"]["content"] == "word0 word1 "


async def test_a_partial_answer_is_saved_within_a_second(
    site: Site, seat: Seat, gate: threading.Event
) -> None:
    async with ChatClient(site, seat) as chat:
        await chat.send("hello")
        while len(chat.streamed()) < len("".join(WORDS[:3])):
            await chat.read_deltas(1)
        seen = time.monotonic()
        sql = "SELECT content FROM conversations_message WHERE role = 'assistant' AND conversation_id = ?"
        while site.query(sql, seat.conversation.replace("-", ""))[-1][0] != "".join(WORDS[:3]):
            assert time.monotonic() - seen < 1.5
            await asyncio.sleep(0.05)
        gate.set()
        await chat.end()


async def test_two_questions_in_one_conversation_are_answered_in_order(
    site: Site, seat: Seat, gate: threading.Event, llm: LlmServer
) -> None:
    async with ChatClient(site, seat) as chat:
        await chat.send("first question")
        await chat.receive("delta")
        await chat.send("[script:stream n=2]")
        waiting = await chat.receive("notice")
        assert waiting["data"]["queued"]
        gate.set()
        assert (await chat.end())["message"]["content"] == WHOLE
        assert (await chat.end())["message"]["content"] == "word0 word1 "
    roles = [(message["role"], message["content"][:14]) for message in llm.requests[-1]["messages"]]
    assert roles[1:] == [
        ("user", "first question"),
        ("assistant", WHOLE[:14]),
        ("user", "[script:stream"),
    ]


async def test_the_fifth_running_answer_of_a_person_waits(site: Site, seat: Seat, llm: LlmServer) -> None:
    made = site.run(
        "import json\n"
        "from crewsite.accounts.models import User, Workspace\n"
        "from crewsite.conversations.services import conversation_create\n"
        f"owner, home = User.objects.get(username={seat.user!r}), Workspace.objects.get(slug='default')\n"
        "print(json.dumps([str(conversation_create(owner=owner, workspace=home).pk) for _ in range(5)]))"
    )
    opened = threading.Event()
    llm.queue.extend(Reply(chunks=WORDS[:4], gate=opened, gate_after=1) for _ in range(5))
    tabs = [ChatClient(site, seat, conversation=conversation) for conversation in json.loads(made)]
    try:
        for tab in tabs[:4]:
            await tab.__aenter__()
            await tab.send("hello")
            await tab.receive("delta")
        last = tabs[4]
        await last.__aenter__()
        await last.send("hello")
        assert (await last.receive("notice", "turn.started"))["type"] == "notice"
        opened.set()
        for tab in tabs:
            assert (await tab.end())["message"]["content"] == "".join(WORDS[:4])
    finally:
        opened.set()
        for tab in tabs:
            if tab.hello:
                await tab.__aexit__(None, None, None)

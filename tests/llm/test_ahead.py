"""Text that is told while it is read: earlier than the model library passes it on, and never another text."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

from crewsite.llm.ahead import TextAhead, current_ahead, reading_ahead
from crewsite.llm.clients import close_http_client
from crewsite.llm.merging import MergedEvents
from crewsite.llm.providers import model_for
from crewsite.llm.targets import Target
from tests.llm.test_merging import Pieces, event, texts
from tests.llm_server import LlmServer, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = [f"w{number} " for number in range(30)]


@pytest.fixture(scope="module")
def server() -> Iterator[LlmServer]:
    with LlmServer() as running:
        yield running


class Listener:
    """Reads one answer as chat does. `pieces` is what it was told, `came` when."""

    def __init__(self, *, ahead: bool = True) -> None:
        self.ahead = TextAhead()
        self.ahead.listener = self.add
        self.is_ahead = ahead
        self.pieces: list[str] = []
        self.out_of_library: list[str] = []

    def add(self, text: str) -> None:
        if text:
            self.pieces.append(text)

    async def handle(self, _context: Any, events: Any) -> None:
        async for item in events:
            match item:
                case (
                    PartStartEvent(part=TextPart(content=text))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                ):
                    self.out_of_library.append(text)
                    self.add(self.ahead.untold(text))
                case _:
                    pass

    async def ask(self, server: LlmServer, **fields: Any) -> Any:
        target = Target("scripted", "scripted", "openai", "scripted", server.url)
        agent = Agent(model_for(target, ahead=self.ahead if self.is_ahead else None), **fields)
        try:
            return await agent.run("go", event_stream_handler=self.handle)
        finally:
            await close_http_client()


async def test_words_are_told_one_by_one_while_the_library_gets_them_together(server: LlmServer) -> None:
    server.queue.append(Reply(chunks=WORDS, delay_s=0.005))
    listener = Listener()
    result = await listener.ask(server)
    assert result.output == "".join(WORDS) == "".join(listener.pieces) == "".join(listener.out_of_library)
    assert len(listener.pieces) > 20
    assert len(listener.out_of_library) < 5


SHARDS = st.sampled_from(
    [
        "word ",
        " ",
        "\n",
        "<",
        "think",
        ">",
        "<think>",
        "</think>",
        "<|",
        "im_start",
        "|>",
        "\u200d",
        "é",
        "👩",
        "[",
        "]",
    ]
)


@settings(max_examples=10, deadline=None)
@given(st.lists(SHARDS, min_size=1, max_size=25))
def test_whatever_is_written_the_same_is_told_as_without(chunks: list[str]) -> None:
    told = []
    with LlmServer() as server:
        for ahead in (False, True):
            server.queue.append(Reply(chunks=["First ", *chunks, " last"], delay_s=0.001))
            listener = Listener(ahead=ahead)
            result = asyncio.run(listener.ask(server))
            told.append(("".join(listener.pieces), result.output))
    assert told[0] == told[1]


async def test_text_before_and_after_a_tool_call_is_told_in_its_place(server: LlmServer) -> None:
    server.queue.append(Reply(chunks=WORDS, delay_s=0.002, tools=[("note", {"text": "x"})]))
    server.queue.append(Reply(chunks=[word.upper() for word in WORDS], delay_s=0.002))
    listener = Listener()
    seen: list[str] = []

    def note(text: str) -> str:
        """Keep a text."""
        seen.append("".join(listener.pieces))
        assert current_ahead() is None  # a model that a tool asks does not answer for us
        return text

    result = await listener.ask(server, tools=[note])
    text = "".join(WORDS)
    assert seen == [text]
    assert "".join(listener.pieces) == text + text.upper()
    said = [
        part.content
        for m in result.all_messages()
        if isinstance(m, ModelResponse)
        for part in m.parts
        if isinstance(part, TextPart)
    ]
    assert said == [text, text.upper()]


async def test_what_was_told_before_a_cut_stands(server: LlmServer) -> None:
    server.queue.append(Reply(chunks=WORDS, delay_s=0.003, cut_after=20))
    listener = Listener()
    with pytest.raises(Exception, match="connection"):
        await listener.ask(server)
    assert "".join(listener.pieces) == "".join(WORDS[:20])


async def test_a_listener_that_has_enough_ends_the_reading(server: LlmServer) -> None:
    class EnoughError(Exception):
        pass

    gate = threading.Event()
    server.queue.append(Reply(chunks=WORDS, delay_s=0.003, gate=gate, gate_after=25))
    listener = Listener()

    def add(text: str) -> None:
        listener.pieces.append(text)
        if len(listener.pieces) == 10:
            raise EnoughError

    listener.ahead.listener = add
    started = time.monotonic()
    with pytest.raises(Exception) as caught:
        await listener.ask(server)
    gate.set()
    assert isinstance(caught.value, EnoughError) or isinstance(caught.value.__cause__, EnoughError)
    assert time.monotonic() - started < 10


async def test_nothing_is_told_before_the_library_passed_text_on_as_it_stood() -> None:
    """One that keeps text back, or takes some out, is given every event."""
    for out_of_it in ("", "Good"):
        ahead = TextAhead()
        given = []
        async for part in MergedEvents(Pieces([event("Good "), event("morning")], pause_s=0.001), ahead):
            given += texts(part)
            ahead.untold(out_of_it)
        assert given == ["Good ", "morning"]


async def test_a_tag_in_pieces_reaches_the_library_in_pieces() -> None:
    ahead = TextAhead()
    given = []
    async for part in MergedEvents(
        Pieces([event("a"), *map(event, ["<", "think", ">"])], pause_s=0.001), ahead
    ):
        given += texts(part)
        ahead.untold(given[0] if len(given) == 1 else "")
    assert given == ["a", "<", "think", ">"]


def test_who_is_told_is_set_for_one_response_alone() -> None:
    ahead = TextAhead()
    with reading_ahead(ahead):
        assert current_ahead() is ahead
    assert current_ahead() is None

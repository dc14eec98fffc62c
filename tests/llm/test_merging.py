"""Deltas that arrived together are handled as one, and nothing is lost, changed or moved on the way."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crewsite.llm.clients import close_http_client, http_client
from crewsite.llm.merging import MergedEvents, joined, parted
from tests.llm_server import LlmServer, Reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def event(text: str | None, **fields: Any) -> bytes:
    choice = {
        "index": 0,
        "delta": {"content": text} if text is not None else {},
        "finish_reason": None,
        **fields,
    }
    return b"data: " + json.dumps({"id": "one", "choices": [choice]}).encode() + b"\n\n"


def texts(stream: bytes) -> list[str]:
    events = [part.removeprefix(b"data: ") for part in stream.split(b"\n\n") if part.startswith(b"data: {")]
    return [json.loads(part)["choices"][0]["delta"].get("content") for part in events]


def merged(*events: bytes) -> bytes:
    return joined([parted(each.removesuffix(b"\n\n")) for each in events])


def test_neighbours_of_text_are_one() -> None:
    assert texts(merged(event("Good "), event("mor"), event("ning"))) == ["Good morning"]


@pytest.mark.parametrize(
    "between",
    [
        event(None, finish_reason="stop"),
        event("end", finish_reason="length"),
        event("x", logprobs={"content": []} | {"content": [1]}),
        b": a comment\n\n",
        b"data: [DONE]\n\n",
        b"data: no json\n\n",
        b'data: {"choices": []}\n\n',
        b'data: {"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]}\n\n',
        b'data: {"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}}]}\n\n',
        b"event: ping\ndata: {}\n\n",
        b"\n\n",
    ],
)
def test_what_is_no_plain_text_passes_as_it_is_and_in_its_place(between: bytes) -> None:
    whole = merged(event("a"), event("b"), between, event("c"), event("d"))
    before, after = whole.split(between, 1)
    assert (texts(before), texts(after)) == (["ab"], ["cd"])


@pytest.mark.parametrize("alone", [event("a"), b"data: {broken\n\n", b"data:{}\n\n"])
def test_one_event_alone_passes_as_it_is(alone: bytes) -> None:
    assert merged(alone) == alone


def test_padding_does_not_keep_deltas_apart() -> None:
    padded = [event(text).replace(b'"id"', b'"obfuscation": "%d", "id"' % n) for n, text in enumerate("abc")]
    assert texts(merged(*padded)) == ["abc"]


class Pieces(httpx2.AsyncByteStream):
    def __init__(self, pieces: list[bytes], *, fails: bool = False, pause_s: float = 0.0) -> None:
        self.pieces, self.fails, self.pause_s = pieces, fails, pause_s
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            await asyncio.sleep(self.pause_s)
            yield piece
        if self.fails:
            raise httpx2.ReadError("cut")

    async def aclose(self) -> None:
        self.closed = True


@settings(deadline=None)
@given(st.lists(st.text(max_size=8)), st.integers(1, 60), st.sampled_from([0, 0.0001]))
def test_however_a_stream_is_cut_its_text_is_the_same(words: list[str], size: int, pause_s: float) -> None:
    stream = b"".join(map(event, words)) + b"data: [DONE]\n\n"
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]

    async def read() -> bytes:
        return b"".join([part async for part in MergedEvents(Pieces(pieces, pause_s=pause_s))])

    got = asyncio.run(read())
    assert "".join(texts(got)) == "".join(words)
    assert got.endswith(b"data: [DONE]\n\n")


async def test_a_reader_that_is_behind_gets_all_of_it_at_once_and_a_quick_one_each_word() -> None:
    words = [event(f"w{number} ") for number in range(20)]
    slow, quick = [], []
    async for part in MergedEvents(Pieces(words)):
        slow += texts(part)
        await asyncio.sleep(0.02)
    async for part in MergedEvents(Pieces(words, pause_s=0.002)):
        quick += texts(part)
    assert "".join(slow) == "".join(quick)
    assert len(slow) < 4
    assert len(quick) > 15


async def test_lines_that_end_with_a_carriage_return_are_read_as_they_come() -> None:
    stream = b"".join(map(event, "abc")).replace(b"\n", b"\r\n")
    cut = stream.index(b"\r\n\r\n", len(stream) // 2) + 3  # in the middle of an end
    pieces = Pieces([stream[:cut], stream[cut:]], pause_s=0.01)
    assert [texts(part) async for part in MergedEvents(pieces)] == [["a"], ["bc"]]


async def test_an_error_comes_after_the_text_before_it() -> None:
    got = b""
    with pytest.raises(httpx2.ReadError):
        async for part in MergedEvents(Pieces([event("half")], fails=True)):
            got += part
    assert texts(got) == ["half"]


async def test_closing_ends_the_reading() -> None:
    pieces = Pieces([event("a")] * 1_000, pause_s=0.001)
    stream = MergedEvents(pieces)
    async for _ in stream:
        break
    await stream.aclose()
    assert pieces.closed
    unread = Pieces([])
    await MergedEvents(unread).aclose()
    assert unread.closed


async def test_what_is_read_ahead_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crewsite.llm.merging.AHEAD_MAX_BYTES", 1_000)
    words = [event(f"w{number} ") for number in range(300)]
    got: list[str] = []
    sizes = []
    async for part in MergedEvents(Pieces(words)):
        sizes.append(len(part))
        got += texts(part)
        await asyncio.sleep(0.001)
    assert "".join(got) == "".join(f"w{number} " for number in range(300))
    assert max(sizes) < 2_000


async def test_a_second_iteration_goes_on_where_the_first_stopped() -> None:
    words = [event(f"w{number} ") for number in range(20)]
    stream = MergedEvents(Pieces(words, pause_s=0.001))
    got: list[str] = []
    async for part in stream:
        got += texts(part)
        if len(got) > 3:
            break
    async for part in stream:
        got += texts(part)
    async for part in stream:
        raise AssertionError(part)
    assert "".join(got) == "".join(f"w{number} " for number in range(20))


async def test_an_answer_whose_body_ends_after_its_last_event_is_whole() -> None:
    """The client reads on after `[DONE]` while the end of the body is still on its way."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        for pause_s, piece in ((0, event("whole")), (0.02, b"data: [DONE]\n\n")):
            await asyncio.sleep(pause_s)
            writer.write(head + b"%x\r\n%b\r\n" % (len(piece), piece))
            head = b""
        await asyncio.sleep(0.1)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        client = openai.AsyncOpenAI(
            base_url=f"http://127.0.0.1:{port}/v1",
            api_key="any",
            http_client=http_client(),  # type: ignore[arg-type]
        )
        said: Any = [{"role": "user", "content": "go"}]
        for _ in range(3):
            stream = await client.chat.completions.create(model="m", messages=said, stream=True)
            assert [chunk.choices[0].delta.content async for chunk in stream] == ["whole"]
    await close_http_client()


async def test_a_providers_client_reads_the_same_answer_through_it() -> None:
    with LlmServer() as server:
        server.queue.append(Reply(chunks=[f"w{number} " for number in range(200)]))
        client = openai.AsyncOpenAI(base_url=server.url, api_key="any", http_client=http_client())  # type: ignore[arg-type]
        said: Any = [{"role": "user", "content": "go"}]
        stream = await client.chat.completions.create(model="m", messages=said, stream=True)
        got = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
        assert "".join(got) == "".join(f"w{number} " for number in range(200))
    await close_http_client()

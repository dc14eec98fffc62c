"""Event streams of model endpoints, with the text deltas that arrived together joined into one. Reading goes
on while earlier deltas are handled, so a busy process handles fewer and longer ones instead of falling
behind."""

from __future__ import annotations

import asyncio
import json
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import httpx2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

EVENT_STREAM: Final = "text/event-stream"
AHEAD_MAX_BYTES: Final = 1_000_000  # read and not yet handled; more waits in the endpoint

_END: Final = b"\n\n"
_DATA: Final = b"data:"
_OF_TEXT: Final = frozenset({"content", "role"})  # fields of a delta that is text and nothing else
_OF_ENDS: Final = ("finish_reason", "logprobs")


class MergedEvents(httpx2.AsyncByteStream):
    """The bytes of an event stream. What cannot be joined passes as it is, in its order."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream
        self._read: list[bytes] = []
        self._rest = b""  # the beginning of an event
        self._arrived = asyncio.Event()
        self._handled = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Whoever iterates again goes on where the one before stopped: clients drain what follows the end of
        an answer."""
        if self._reader is None:
            self._reader = asyncio.create_task(self._keep_reading())
            self._reader.add_done_callback(lambda _: self._arrived.set())
        is_over = False
        while not is_over:
            if not self._read and not self._reader.done():
                self._arrived.clear()
                await self._arrived.wait()
            self._handled.set()
            is_over = self._reader.done()
            read, self._read = b"".join([self._rest, *self._read]), []
            whole, self._rest = merged(read)
            if whole:
                yield whole
        rest, self._rest = self._rest, b""
        if rest:
            yield rest
        if not self._reader.cancelled():
            self._reader.result()  # raises what went wrong while reading

    async def aclose(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        await self._stream.aclose()

    async def _keep_reading(self) -> None:
        ahead = 0
        async for piece in self._stream:
            self._read.append(piece)
            self._arrived.set()
            ahead = ahead + len(piece) if len(self._read) > 1 else len(piece)
            if ahead > AHEAD_MAX_BYTES:
                self._handled.clear()
                await self._handled.wait()


def merged(read: bytes) -> tuple[bytes, bytes]:
    """The whole events of what was read, and the beginning of the next one. Neighbours that differ in their
    text alone are one event.
    """
    whole, end, rest = read.rpartition(_END)
    events = whole.split(_END) if end else []
    if len(events) > 1:
        events = [
            _joined(frame, list(group))
            for frame, group in groupby(map(_parted, events), key=lambda parted: parted[0])
        ]
    return b"".join(event + _END for event in events), rest


def _parted(event: bytes) -> tuple[object, bytes, str]:
    """(all of a delta but its text, the event, its text). What is no plain delta of text has a frame of its
    own, equal to no other.
    """
    try:
        chunk: Any = json.loads(event.removeprefix(_DATA)) if event.startswith(_DATA) else None
        [choice] = chunk["choices"]
        text = choice["delta"]["content"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return object(), event, ""
    if not isinstance(text, str) or set(choice["delta"]) - _OF_TEXT or any(map(choice.get, _OF_ENDS)):
        return object(), event, ""
    choice["delta"]["content"] = ""
    chunk.pop("obfuscation", None)  # OpenAI's padding against those who watch lengths; of no use once read
    return json.dumps(chunk), event, text


def _joined(frame: object, group: list[tuple[object, bytes, str]]) -> bytes:
    if len(group) == 1 or not isinstance(frame, str):
        return _END.join(event for _, event, _ in group)
    chunk = json.loads(frame)
    chunk["choices"][0]["delta"]["content"] = "".join(text for _, _, text in group)
    return _DATA + b" " + json.dumps(chunk).encode()

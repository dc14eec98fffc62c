"""Event streams of model endpoints, with the text deltas that arrived together joined into one. Reading goes
on while earlier deltas are handled, so a busy process handles fewer and longer ones instead of falling
behind. Text that the model library would only pass on is told ahead of it (`ahead`)."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import httpx2
from pydantic_core import from_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crewsite.llm.ahead import TextAhead

EVENT_STREAM: Final = "text/event-stream"
AHEAD_MAX_BYTES: Final = 1_000_000  # read and not yet handled; more waits in the endpoint

_END: Final = b"\n\n"  # where lines end with a carriage return too, as some servers have it, that goes
_DATA: Final = b"data:"
_OF_TEXT: Final = frozenset({"content", "role"})  # fields of a delta that is text and nothing else
_OF_ENDS: Final = ("finish_reason", "logprobs")
# Alone in a delta they are where the model library turns text into thinking, and back.
_TAGS: Final = frozenset({"<think>", "</think>"})
# Zero-width characters, which the library may take out, and halves of a pair, which count as one once joined.
_CHANGEABLE: Final = re.compile("[\u200b-\u200d\u2060\ufeff\ud800-\udfff]")


class Event(NamedTuple):
    """`frame` is all of a delta but its text, as a dictionary; for what may not be joined an object that is
    equal to no other. `data` is how it was read; None: it can be written again from the two."""

    frame: object
    data: bytes | None
    text: str

    @property
    def is_plain(self) -> bool:
        """Text that the library passes on as it is, or keeps as a whole."""
        return isinstance(self.frame, dict) and (self.text.isascii() or not _CHANGEABLE.search(self.text))


class MergedEvents(httpx2.AsyncByteStream):
    """The bytes of an event stream. What cannot be joined passes as it is, in its order.

    Once the library has passed on plain text as it stood in an event, it will do the same with the next event
    that differs from that one in plain text alone. Such text is told `ahead` at once, and given to the
    library together with the first event that must go through it.
    """

    def __init__(self, stream: httpx2.AsyncByteStream, ahead: TextAhead | None = None) -> None:
        self._stream = stream
        self._ahead = ahead
        self._frame: object = None  # of the last text the library got
        self._expected = -1  # characters out of it, once it has passed that text on
        self._told: list[Event] = []  # to be given to it
        self._waiting: list[Event] = []  # to be given to it after them
        self._unhandled = 0  # bytes of them
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
            if not self._waiting and not self._reader.done():
                self._arrived.clear()
                await self._arrived.wait()
            self._handled.set()
            is_over = self._reader.done()
            given = self._give()
            if given:
                yield given
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
        async for piece in self._stream:
            whole, end, self._rest = (self._rest + piece).replace(b"\r\n", b"\n").rpartition(_END)
            for event in map(parted, whole.split(_END) if end else ()):
                if self._waiting or not self._tell(event):
                    self._waiting.append(event)
            if self._waiting:
                self._arrived.set()
                self._unhandled += len(piece)
                if self._unhandled > AHEAD_MAX_BYTES:
                    self._handled.clear()
                    await self._handled.wait()

    def _tell(self, event: Event) -> bool:
        """False: the library must have it."""
        if self._ahead is None or event.frame != self._frame or not event.is_plain:
            return False
        if self._ahead.handled != self._expected:
            return False  # it keeps something back, or made something else of it
        self._ahead.tell(event.text)
        self._told.append(Event(self._frame, None, event.text))
        return True

    def _give(self) -> bytes:
        events = [*self._told, *self._waiting]
        self._told, self._waiting, self._unhandled = [], [], 0
        if self._ahead is not None and events:
            count = sum(len(event.text) for event in events)
            is_plain = count > 0 and all(event.is_plain for event in events)
            self._frame = events[-1].frame
            self._expected = self._ahead.handled + count if is_plain else -1
        return joined(events)


def parted(event: bytes) -> Event:
    try:
        chunk: Any = _read(event.removeprefix(_DATA)) if event.startswith(_DATA) else None
        [choice] = chunk["choices"]
        text = choice["delta"]["content"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return Event(object(), event, "")
    # A tag counts only where it is the whole text of a delta.
    if not isinstance(text, str) or text in _TAGS:
        return Event(object(), event, "")
    if set(choice["delta"]) - _OF_TEXT or any(map(choice.get, _OF_ENDS)):
        return Event(object(), event, "")
    choice["delta"]["content"] = ""
    chunk.pop("obfuscation", None)  # OpenAI's padding against those who watch lengths; of no use once read
    return Event(chunk, event, text)


def _read(data: bytes) -> Any:
    """The faster library does not take half of a surrogate pair, as endpoints write it that cut emoji in
    two."""
    try:
        return from_json(data)
    except ValueError:
        return json.loads(data)


def joined(events: list[Event]) -> bytes:
    """Neighbours that differ in their text alone are one event."""
    groups = (list(group) for _, group in groupby(events, key=lambda event: event.frame))
    return b"".join(_joined(group) + _END for group in groups)


def _joined(group: list[Event]) -> bytes:
    whole = Event(group[0].frame, None, "".join(event.text for event in group))
    # A tag that the model wrote in pieces is text, as it stands.
    if len(group) == 1 or whole.text in _TAGS:
        return _END.join(map(_written, group))
    return _written(whole)


def _written(event: Event) -> bytes:
    if event.data is not None:
        return event.data
    chunk: Any = event.frame
    [choice] = chunk["choices"]
    delta = {**choice["delta"], "content": event.text}
    return _DATA + b" " + json.dumps({**chunk, "choices": [{**choice, "delta": delta}]}).encode()

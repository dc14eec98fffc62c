"""A websocket client that speaks protocol v1, as an integration would."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import websockets

if TYPE_CHECKING:
    from types import TracebackType

    from websockets.asyncio.client import ClientConnection

    from tests.site import Seat, Site

WAIT_SECONDS = 20
Frame = dict[str, Any]


class ChatClient:
    """`async with ChatClient(site, seat) as chat:` has read the hello. Every frame received is kept in
    `frames`."""

    def __init__(
        self, site: Site, seat: Seat, *, conversation: str = "", patience_s: float = WAIT_SECONDS
    ) -> None:
        self.patience_s = patience_s
        self.url = site.socket_url(conversation or seat.conversation)
        self.headers = {"Authorization": f"Bearer {seat.token}"}
        self.frames: list[Frame] = []
        self.hello: Frame = {}

    async def __aenter__(self) -> Self:
        self.socket: ClientConnection = await websockets.connect(self.url, additional_headers=self.headers)
        self.hello = await self.receive("hello")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.socket.close()

    async def receive(self, *kinds: str) -> Frame:
        """The next frame of one of these kinds; those before it are kept and passed over."""
        async with asyncio.timeout(self.patience_s):
            while True:
                frame: Frame = json.loads(await self.socket.recv())
                self.frames.append(frame)
                if not kinds or frame["type"] in kinds:
                    return frame

    async def say(self, kind: str, /, **fields: Any) -> None:
        await self.socket.send(json.dumps({"v": 1, "type": kind, **fields}))

    async def send(self, text: str, *, client_key: str = "") -> Frame:
        """Send a message; the `message` frame that confirms it."""
        await self.say("send", client_key=client_key or str(uuid4()), text=text)
        return await self.receive("message", "error")

    async def end(self) -> Frame:
        return await self.receive("turn.done", "turn.failed")

    async def ask(self, text: str) -> Frame:
        await self.send(text)
        return await self.end()

    async def command(self, text: str) -> Frame:
        await self.say("command", text=text)
        return await self.receive("notice")

    async def read_deltas(self, count: int) -> str:
        return "".join([(await self.receive("delta"))["text"] for _ in range(count)])

    def of(self, kind: str) -> list[Frame]:
        return [frame for frame in self.frames if frame["type"] == kind]

    def streamed(self) -> str:
        """All delta texts, one after the other, with no look at offsets: what a plain client would show."""
        return "".join(frame["text"] for frame in self.of("delta"))


async def close_code(url: str, **options: Any) -> int | None:
    """Connect and wait; the code the server closes with, which must come before any frame."""
    async with websockets.connect(url, **options) as socket:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                first = await socket.recv()
        except websockets.ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None
        raise AssertionError(f"the socket stayed open and said {first!r}")

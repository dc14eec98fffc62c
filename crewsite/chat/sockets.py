"""What the sockets of pages share: who is behind one, the tasks that serve it, its sign of life. What is told
belongs to each."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, ClassVar, Final

from channels.generic.websocket import AsyncWebsocketConsumer

from crewsite.accounts.sockets import AuthenticatedSocket, authenticate
from crewsite.chat.constants import CLOSE_BUSY, CLOSE_TRY_AGAIN, CLOSE_UNAUTHENTICATED, HEARTBEAT_S
from crewsite.chat.payloads import Frame, frame, frame_text
from crewsite.chat.threads import in_database

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from crewsite.chat.limits import RateLimit

logger = logging.getLogger(__name__)

SUBPROTOCOL: Final = "crew.v1"


class PageSocket(AsyncWebsocketConsumer):
    connects: ClassVar[RateLimit]  # of one person

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.who: AuthenticatedSocket | None = None
        self.tasks: set[asyncio.Task[None]] = set()

    async def still_admitted(self) -> bool:
        """Whether this socket would be let in now; closed with the reason if not."""
        raise NotImplementedError

    async def let_in(self) -> AuthenticatedSocket | None:
        """Who is behind it; None, and closed, where that is nobody or somebody who connects too often."""
        self.who = await in_database(authenticate, self.scope)
        # Only an accepted socket can be told why it is closed: before that, a browser sees nothing but a
        # failure.
        await self.accept(SUBPROTOCOL if SUBPROTOCOL in self.scope.get("subprotocols", ()) else None)
        if self.who is None:
            await self.close(code=CLOSE_UNAUTHENTICATED)
            return None
        if not self.connects.allow(self.who.user.pk):
            await self.close(code=CLOSE_BUSY)
            return None
        return self.who

    async def disconnect(self, code: int) -> None:
        for task in self.tasks:
            task.cancel()

    async def beat(self) -> None:
        """Every 20 s: a sign of life, and whether this socket would still be let in."""
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            if not await self.still_admitted():
                return
            await self.tell(frame("ping"))

    async def tell(self, item: Frame) -> None:
        with contextlib.suppress(RuntimeError):  # closed meanwhile
            await self.send(text_data=frame_text(item))

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Until it ends, or the socket. A socket that is no longer served is closed, so that its client comes
        again."""
        task = asyncio.create_task(self._served(work))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _served(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            logger.exception("A socket at %s could not be served; it is closed.", self.scope["path"])
            await self.close(code=CLOSE_TRY_AGAIN)

"""Who listens to which conversation in this process. Publishing never waits: a listener that falls behind
loses its queue and is told to read the turn again from its row."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

from crewsite.chat.constants import SOCKET_QUEUE_EVENTS

if TYPE_CHECKING:
    from uuid import UUID

    from crewsite.chat.payloads import Frame


class Subscription:
    """One socket's bounded queue. `None` out of it means: frames were dropped, catch up from the rows."""

    def __init__(self, conversation_id: UUID, *, size: int = SOCKET_QUEUE_EVENTS) -> None:
        self.conversation_id = conversation_id
        self._queue: asyncio.Queue[Frame | None] = asyncio.Queue(maxsize=size)

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    def put(self, item: Frame) -> None:
        if self._queue.full():
            while not self._queue.empty():
                self._queue.get_nowait()
            self._queue.put_nowait(None)
            return
        self._queue.put_nowait(item)

    async def get(self) -> Frame | None:
        return await self._queue.get()


class Hub:
    def __init__(self) -> None:
        self._listeners: dict[UUID, set[Subscription]] = defaultdict(set)

    def subscribe(self, conversation_id: UUID) -> Subscription:
        subscription = Subscription(conversation_id)
        self._listeners[conversation_id].add(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        listeners = self._listeners.get(subscription.conversation_id, set())
        listeners.discard(subscription)
        if not listeners:
            self._listeners.pop(subscription.conversation_id, None)

    def publish(self, conversation_id: UUID, item: Frame) -> None:
        for subscription in tuple(self._listeners.get(conversation_id, ())):
            subscription.put(item)


hub = Hub()

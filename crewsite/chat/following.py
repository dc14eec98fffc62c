"""One turn from wherever it stands to its end, for doors without a socket: stream it, await it, stop it."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from crewsite.chat.constants import FOLLOW_EVERY_S
from crewsite.chat.delivery import Delivery
from crewsite.chat.hub import hub
from crewsite.chat.payloads import frame, message_frame, turn_closed_frame
from crewsite.chat.runner import runner
from crewsite.chat.selectors import running_limit
from crewsite.chat.services import turn_stop
from crewsite.chat.threads import in_database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from uuid import UUID

    from crewsite.chat.models import Turn
    from crewsite.chat.payloads import Frame
    from crewsite.conversations.branches import Versions
    from crewsite.conversations.models import Conversation

CLOSING: Final = frozenset({"turn.done", "turn.failed"})


async def turn_submit(
    turn: Turn,
    *,
    user_id: int,
    is_retry: bool = False,
    versions: Versions | None = None,
    options: Mapping[str, Any] | None = None,
) -> None:
    """A queued turn to this process's runner, and its message, if it is new, to the sockets that listen.
    `versions` are those of the message, `options` settings of the model call.
    """
    if not is_retry:
        hub.publish(turn.conversation_id, message_frame(turn.user_message, turn=turn, versions=versions))
    limit = await in_database(running_limit)
    runner.submit(turn, user_id=user_id, limit=limit, is_retry=is_retry, options=options)


async def turn_halt(turn: Turn) -> None:
    """Stop an open turn, whichever process runs it. What was produced is kept."""
    if await runner.stop(turn.pk):
        return
    # Another process runs it: the row is closed here, and that process ends when it next saves.
    closed = await in_database(turn_stop, turn_id=turn.pk)
    hub.publish(turn.conversation_id, turn_closed_frame(closed))


async def turn_frames(conversation: Conversation, turn_id: UUID, *, ping_s: float) -> AsyncIterator[Frame]:
    """The frames of a socket, of this turn alone: every character once, and its end last. `ping` after a
    silence.
    """
    told: deque[Frame] = deque()

    async def tell(item: Frame) -> None:
        told.append(item)

    subscription = hub.subscribe(conversation.pk)
    delivery = Delivery(conversation, tell)
    try:
        await delivery.show(turn_id)
        silence_s = 0.0
        while True:
            while told:
                item = told.popleft()
                if _belongs(item, turn_id):
                    silence_s = 0.0
                    yield item
                if item["type"] in CLOSING and item.get("turn") == str(turn_id):
                    return
            try:
                found = await asyncio.wait_for(subscription.get(), FOLLOW_EVERY_S)
                await (delivery.catch_up() if found is None else delivery.deliver(found))
            except TimeoutError:
                silence_s += FOLLOW_EVERY_S
                if runner.live(turn_id) is None:
                    await delivery.show(turn_id)  # it waits for its place, or another process runs it
            if silence_s >= ping_s:
                silence_s = 0.0
                yield frame("ping")
    finally:
        hub.unsubscribe(subscription)


async def turn_wait(conversation: Conversation, turn_id: UUID, *, seconds: float) -> None:
    """Until the turn is over, or so long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            async for _ in turn_frames(conversation, turn_id, ping_s=seconds):
                pass


def _belongs(item: Frame, turn_id: UUID) -> bool:
    if item["type"] == "message":
        return bool(item["message"].get("turn") == str(turn_id))
    return bool(item.get("turn") == str(turn_id))

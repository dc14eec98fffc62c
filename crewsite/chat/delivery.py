"""What one socket has been told: every character of a running turn once and in order, whatever was dropped,
replayed or asked for again. Reads rows only to fill gaps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from uuid import UUID

from crewsite.chat.constants import FOLLOW_EVERY_S
from crewsite.chat.models import Turn
from crewsite.chat.payloads import (
    Frame,
    delta_frames,
    message_frame,
    tool_frame,
    turn_closed_frame,
    turn_gone_frame,
    turn_started_frame,
)
from crewsite.chat.runner import runner
from crewsite.chat.selectors import OPEN_STATES, missed, turn_in
from crewsite.chat.threads import in_database

if TYPE_CHECKING:
    from crewsite.conversations.models import Conversation

Send = Callable[[Frame], Awaitable[None]]


class Delivery:
    """`hold` keeps the frames of a turn back until `resume` says from which character on the client wants
    it."""

    def __init__(self, conversation: Conversation, send: Send) -> None:
        self._conversation = conversation
        self._send = send
        self._offsets: dict[UUID, int] = {}
        self._held: set[UUID] = set()
        self._last_seq = 0
        self._lock = asyncio.Lock()

    def begin(self, *, last_seq: int) -> None:
        """What comes after this message is news."""
        self._last_seq = max(self._last_seq, last_seq)

    def hold(self, turn_id: UUID) -> None:
        self._held.add(turn_id)

    @property
    def is_holding(self) -> bool:
        return bool(self._held)

    async def deliver(self, item: Frame) -> None:
        async with self._lock:
            await self._deliver(item)

    async def catch_up(self) -> None:
        """After dropped frames: missed messages, and the turns this socket was following, from where it
        was."""
        async with self._lock:
            await self._messages_after(self._last_seq, skip=set())
            for turn_id in tuple(self._offsets):
                await self._turn_from(turn_id, self._offsets[turn_id])

    async def resume(self, *, after_seq: int | None, turn_id: UUID | None, offset: int) -> None:
        """What a reconnected client lacks: messages after a number, then its turn from a character on."""
        async with self._lock:
            following = self._conversation_turns(turn_id)
            self._held.clear()
            if after_seq is not None:
                running = await self._messages_after(after_seq, skip={turn_id} if turn_id else set())
                if running is not None:
                    following.setdefault(running)
            for following_id in following:
                await self._turn_from(following_id, offset if following_id == turn_id else 0)

    async def show(self, turn_id: UUID) -> None:
        """The turn from where this socket is with it."""
        async with self._lock:
            self._held.discard(turn_id)
            await self._turn_from(turn_id, self._offsets.get(turn_id, 0))

    async def follow_row(self, turn_id: UUID) -> None:
        """A turn that another process runs, read from its row until it is over."""
        while runner.live(turn_id) is None:
            async with self._lock:
                if turn_id not in self._held and await self._turn_from(
                    turn_id, self._offsets.get(turn_id, 0)
                ):
                    return
            await asyncio.sleep(FOLLOW_EVERY_S)

    async def follow_elsewhere(self, turn_id: UUID) -> None:
        """The same for one that began there while this socket was open: first what was asked."""
        async with self._lock:
            await self._messages_after(self._last_seq, skip={turn_id})
        await self.follow_row(turn_id)

    def _conversation_turns(self, turn_id: UUID | None) -> dict[UUID, None]:
        wanted = dict.fromkeys([turn_id] if turn_id else [])
        local = runner.running_in(self._conversation.pk)
        return {**wanted, **dict.fromkeys([local] if local else [])}

    async def _deliver(self, item: Frame) -> None:
        turn_id = UUID(item["turn"]) if isinstance(item.get("turn"), str) else None
        match item["type"]:
            case "delta" if turn_id is not None:
                if turn_id not in self._held:
                    await self._delta(turn_id, item["offset"], item["text"])
                return
            case "tool" | "turn.started" if turn_id in self._held:
                return
            case "turn.started" if turn_id in self._offsets:
                return  # a resume has told it already
            case "turn.started" if turn_id is not None:
                self._offsets[turn_id] = 0
            case "turn.done" | "turn.failed" if turn_id is not None:
                self._held.discard(turn_id)
                self._offsets.pop(turn_id, None)
                self._saw(item.get("message"))
            case "message":
                self._saw(item["message"])
            case _:
                pass
        await self._send(item)

    def _saw(self, message: Frame | None) -> None:
        if message:
            self._last_seq = max(self._last_seq, message["seq"])

    async def _delta(self, turn_id: UUID, offset: int, text: str) -> None:
        """Cut what was sent already; fill what is missing in front from the turn's whole text."""
        sent = self._offsets.get(turn_id, 0)
        end = offset + len(text)
        if end <= sent:
            return
        if offset > sent:
            live = runner.live(turn_id)
            if live is None:
                return
            text, offset = live.text[sent:end], sent
        await self._send_text(turn_id, sent, text[sent - offset :])

    async def _send_text(self, turn_id: UUID, offset: int, text: str) -> None:
        if text:
            self._offsets[turn_id] = offset + len(text)
            for item in delta_frames(turn_id, offset, text):
                await self._send(item)

    async def _messages_after(self, after_seq: int, *, skip: set[UUID]) -> UUID | None:
        """Send them, without the answers of turns to `skip`; the turn that runs, if any, is returned."""
        found = await in_database(missed, self._conversation, after_seq=after_seq)
        for message, turn in found.messages:
            answers = turn is not None and turn.assistant_message_id == message.pk
            if answers and turn is not None and (turn.pk in skip or turn.pk in self._offsets):
                continue
            sent = message_frame(message, turn=turn)
            self._saw(sent["message"])
            await self._send(sent)
        return found.running.pk if found.running else None

    async def _turn_from(self, turn_id: UUID, offset: int) -> bool:
        """The state of a turn from a character on; True when it is over."""
        turn = await in_database(turn_in, self._conversation, turn_id)
        if turn is None:
            self._offsets.pop(turn_id, None)
            await self._send(turn_gone_frame(turn_id))
            return True
        if turn.state not in OPEN_STATES:
            self._offsets.pop(turn_id, None)
            item = turn_closed_frame(turn)
            self._saw(item.get("message"))
            await self._send(item)
            return True
        await self._running_from(turn, offset)
        return False

    async def _running_from(self, turn: Turn, offset: int) -> None:
        if turn.state != Turn.State.RUNNING:
            return
        if turn.pk not in self._offsets:
            await self._send(turn_started_frame(turn))
        live = runner.live(turn.pk)
        answer = turn.assistant_message
        calls = live.tool_calls if live else (answer.tool_calls if answer else [])
        text = live.text if live else (answer.content if answer else "")
        for call in calls:
            await self._send(tool_frame(turn.pk, call))
        self._offsets[turn.pk] = min(offset, len(text))
        await self._send_text(turn.pk, self._offsets[turn.pk], text[offset:])

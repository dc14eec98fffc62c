"""Runs turns as tasks of this process, outside any socket: in order within a conversation, at most so many
at once for one person, saved every second, told to whoever listens. What an answer is made of belongs to
`producing`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ObjectDoesNotExist

from crewsite.chat.constants import FOLLOW_EVERY_S, SAVE_EVERY_S
from crewsite.chat.elsewhere import mark
from crewsite.chat.hub import hub
from crewsite.chat.interruption import turns_interrupt
from crewsite.chat.live import LiveTurn
from crewsite.chat.payloads import notice_frame, turn_closed_frame, turn_started_frame
from crewsite.chat.preparing import begin
from crewsite.chat.producing import produce
from crewsite.chat.selectors import turn_closed
from crewsite.chat.services import Draft, TurnMustWait, turn_fail, turn_finish, turn_stop, turns_save
from crewsite.chat.threads import in_database, in_packet_thread
from crewsite.chat.titles import title_later
from crewsite.jobs.storage import store_refusal
from crewsite.jobs.store import running_work
from crewsite.llm.errors import LlmError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from crewsite.chat.models import Turn
    from crewsite.chat.payloads import Frame
    from crewsite.chat.preparing import Prepared

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Entry:
    """A turn this process has taken on."""

    turn_id: UUID
    conversation_id: UUID
    user_id: int
    live: LiveTurn
    limit: int
    task: asyncio.Task[None] | None = None
    is_retry: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    stopping: bool = False
    beginning: bool = False  # a thread is at it, and perhaps claims its row
    producing: bool = False  # its row is running, and ours to save
    unsaved: bool = False  # its end cannot be written yet
    has_ended: bool = False


class Runner:
    """Belongs to one event loop; its dictionaries are touched from there only."""

    def __init__(self) -> None:
        self._running: dict[UUID, _Entry] = {}
        self._waiting: dict[int, deque[_Entry]] = {}
        self._saver: asyncio.Task[None] | None = None

    def live(self, turn_id: UUID) -> LiveTurn | None:
        entry = self._running.get(turn_id)
        return entry.live if entry else None

    def running_in(self, conversation_id: UUID) -> UUID | None:
        """The turn that runs in a conversation now; there is at most one."""
        found = (e.turn_id for e in self._running.values() if e.conversation_id == conversation_id)
        return next(found, None)

    def submit(
        self,
        turn: Turn,
        *,
        user_id: int,
        limit: int,
        is_retry: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Take a queued turn on: at once if there is room, else in order. `options` are settings of its model
        call."""
        live = LiveTurn(turn.pk, partial(hub.publish, turn.conversation_id))
        entry = _Entry(
            turn.pk, turn.conversation_id, user_id, live, limit, is_retry=is_retry, options=options or {}
        )
        self._waiting.setdefault(user_id, deque()).append(entry)
        mark()
        self._start_what_fits(user_id, limit)
        if entry.task is None:
            hub.publish(turn.conversation_id, _waits_frame(turn.pk))

    async def stop(self, turn_id: UUID) -> bool:
        """Cancel a running or waiting turn of this process and wait until its row says so, unless that cannot
        be written just now."""
        entry = self._running.get(turn_id)
        if entry is not None and entry.task is not None:
            self._cancel(entry)
            while not entry.task.done() and not entry.unsaved:
                await asyncio.wait([entry.task], timeout=FOLLOW_EVERY_S)
            if entry.task.done() and not entry.has_ended:  # it had not taken its first step
                await self._close(entry, partial(turn_stop, turn_id=turn_id))
                self._ended(entry)
            return True
        for queue in self._waiting.values():
            for waiting in tuple(queue):
                if waiting.turn_id == turn_id:
                    queue.remove(waiting)
                    await self._close(waiting, partial(turn_stop, turn_id=turn_id))
                    return True
        return False

    def _cancel(self, entry: _Entry) -> None:
        """Once: a second cancellation would tear the ending of the first."""
        if entry.task is not None and not entry.stopping:
            entry.stopping = True
            entry.task.cancel()

    def _start_what_fits(self, user_id: int, limit: int) -> None:
        queue = self._waiting.get(user_id, deque())
        for entry in tuple(queue):
            mine = sum(1 for e in self._running.values() if e.user_id == user_id)
            if mine >= limit:
                break
            if self.running_in(entry.conversation_id) is not None:
                continue
            queue.remove(entry)
            self._running[entry.turn_id] = entry
            entry.task = asyncio.create_task(self._run(entry), name=f"turn-{entry.turn_id}")
        if not queue:
            self._waiting.pop(user_id, None)

    async def _run(self, entry: _Entry) -> None:
        try:
            with running_work():
                await self._answer(entry)
        except asyncio.CancelledError:
            if not entry.stopping:
                raise
            await self._end(entry, partial(turn_stop, turn_id=entry.turn_id))
        except LlmError as error:
            await self._fail(entry, error.reason, retryable=error.retryable)
        except Exception:
            logger.exception("Turn %s failed.", entry.turn_id)
            await self._fail(entry, "Something went wrong here; the log has the details.", retryable=True)
        finally:
            self._ended(entry)

    def _ended(self, entry: _Entry) -> None:
        self._running.pop(entry.turn_id, None)
        entry.has_ended = True
        self._start_what_fits(entry.user_id, entry.limit)

    async def _answer(self, entry: _Entry) -> None:
        try:
            prepared = await self._begun_in_turn(entry)
            if prepared is None:
                await self._tell_closed(entry)
                return
            hub.publish(entry.conversation_id, turn_started_frame(prepared.turn, is_retry=entry.is_retry))
            usage = await produce(prepared, entry.live, entry.options)
        finally:
            entry.producing = False
        finish = partial(turn_finish, turn_id=entry.turn_id, usage=usage, **_produced(entry.live))
        await self._close(entry, finish)
        if not prepared.history:
            title_later(entry.conversation_id)

    async def _tell_closed(self, entry: _Entry) -> None:
        """A turn that another process stopped before it could begin here."""
        turn = None if entry.stopping else await in_database(turn_closed, turn_id=entry.turn_id)
        if turn is not None:
            hub.publish(entry.conversation_id, turn_closed_frame(turn))

    async def _begun_in_turn(self, entry: _Entry) -> Prepared | None:
        """Once no other process answers in the conversation; one that is gone does not count."""
        is_told = False
        while True:
            try:
                return await self._begin(entry)
            except TurnMustWait:
                entry.beginning = False
                if not is_told:
                    hub.publish(entry.conversation_id, _waits_frame(entry.turn_id))
                is_told = True
                await in_database(turns_interrupt)
                await asyncio.sleep(FOLLOW_EVERY_S)

    async def _begin(self, entry: _Entry) -> Prepared | None:
        """In one go: of a hundred turns that begin together the first answers then begin at once, where step
        by step all would wait for the last."""
        loop = asyncio.get_running_loop()

        def work() -> Prepared | None:
            entry.beginning = True
            if entry.stopping:
                return None
            return begin(entry.turn_id, begun=partial(loop.call_soon_threadsafe, self._begun, entry))

        beginning = asyncio.ensure_future(in_packet_thread(work))
        try:
            return await asyncio.shield(beginning)
        except asyncio.CancelledError:
            # The thread goes on. What it claims must be closed after it, or else a retry would find its turn
            # claimed and run by nobody.
            if entry.stopping and entry.beginning:
                await asyncio.gather(beginning, return_exceptions=True)
            raise

    def _begun(self, entry: _Entry) -> None:
        entry.producing = True
        if self._saver is None or self._saver.done():
            self._saver = asyncio.create_task(self._save_regularly(), name="turns-save")

    async def _save_regularly(self) -> None:
        """All turns together while any runs: a transaction each would keep a busy process at nothing else."""
        while saved := {e.turn_id: e for e in self._running.values() if e.producing}:
            await asyncio.sleep(SAVE_EVERY_S)
            drafts = [Draft(turn_id, **_produced(e.live)) for turn_id, e in saved.items() if e.producing]
            if not drafts:
                continue
            try:
                lost = await in_database(turns_save, drafts)
            except Exception:
                logger.exception("%d turns could not be saved so far; trying again.", len(drafts))
                continue
            for entry in map(saved.__getitem__, lost):
                self._let_go(entry)

    def _let_go(self, entry: _Entry) -> None:
        """A turn whose row was closed by another process, such as by a stop there, ends here too."""
        if entry.producing:
            self._cancel(entry)

    async def _fail(self, entry: _Entry, reason: str, *, retryable: bool) -> None:
        await self._end(entry, partial(turn_fail, turn_id=entry.turn_id, reason=reason, retryable=retryable))

    async def _end(self, entry: _Entry, close: partial[Turn]) -> None:
        """Close it with what was produced."""
        try:
            await self._close(entry, partial(close, **_produced(entry.live)))
        except Exception:
            # Perhaps it is what was produced that cannot be written; then what was saved so far must do.
            logger.exception("Turn %s could not be closed with its text.", entry.turn_id)
            await self._close(entry, close)

    async def _close(self, entry: _Entry, close: partial[Turn]) -> None:
        """Write the end of a turn, then tell it. A stop that arrives while the end is written does not undo
        it; a database that takes no row, as on a full disk, is asked again until it does."""
        entry.live.flush()
        writing = await self._written(close)
        while (refusal := store_refusal(writing.exception() or Exception())) is not None:
            if not entry.unsaved:
                entry.unsaved = True
                logger.error("The end of turn %s cannot be written; trying again. %s", entry.turn_id, refusal)
                text = f"The answer is not saved yet, and it is tried again: {refusal}"
                hub.publish(entry.conversation_id, notice_frame(text, level="warning"))
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(SAVE_EVERY_S)
            writing = await self._written(close)
        self._running.pop(entry.turn_id, None)
        if isinstance(writing.exception(), ObjectDoesNotExist):
            logger.info("Turn %s ended after its conversation was deleted.", entry.turn_id)
            return
        hub.publish(entry.conversation_id, turn_closed_frame(writing.result()))

    async def _written(self, close: partial[Turn]) -> asyncio.Future[Turn]:
        writing = asyncio.ensure_future(in_database(close))
        while not writing.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([writing])
        return writing


def _waits_frame(turn_id: UUID) -> Frame:
    text = "Waiting for an earlier answer to finish."
    return notice_frame(text, data={"turn": str(turn_id), "queued": True})


def _produced(live: LiveTurn) -> dict[str, Any]:
    return {"text": live.text, "tool_calls": live.tool_calls, "first_token_at": live.first_token_at}


runner = Runner()

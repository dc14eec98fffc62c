"""The chat socket: protocol v1 of the README. Checks who may, parses frames, calls services; what runs a
turn is the runner's, and what a socket has been told is `delivery`'s."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from crewsite.chat import frames
from crewsite.chat.actions import Actions
from crewsite.chat.constants import (
    CLOSE_NOT_FOUND,
    CLOSE_TOO_BIG,
    CLOSE_UNAUTHENTICATED,
    CONNECTS_PER_MINUTE,
    FRAME_MAX_BYTES,
    MESSAGES_PER_MINUTE,
    RESUME_GRACE_S,
)
from crewsite.chat.delivery import Delivery
from crewsite.chat.elsewhere import elsewhere
from crewsite.chat.hub import Subscription, hub
from crewsite.chat.interruption import turns_interrupt
from crewsite.chat.limits import RateLimit
from crewsite.chat.payloads import error_frame, hello_frame
from crewsite.chat.runner import runner
from crewsite.chat.selectors import Admission, Standing, admission, conversation_for, standing
from crewsite.chat.sockets import PageSocket
from crewsite.chat.threads import in_database
from crewsite.jobs.errors import MaintenanceInProgress
from crewsite.jobs.storage import store_refusal

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from datetime import datetime
    from uuid import UUID

    from crewsite.accounts.sockets import AuthenticatedSocket
    from crewsite.chat.models import Turn
    from crewsite.conversations.models import Conversation

logger = logging.getLogger(__name__)


class ChatConsumer(PageSocket):
    """One socket on one conversation."""

    connects = RateLimit(CONNECTS_PER_MINUTE)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.subscription: Subscription | None = None
        self.delivery: Delivery | None = None
        self.messages = RateLimit(MESSAGES_PER_MINUTE)
        self.opened_at = timezone.now()
        self.following: set[UUID] = set()  # turns of other processes
        self.ended: dict[UUID, datetime] = {}  # those that were followed to their end, and when that was told

    async def connect(self) -> None:
        who = await self.let_in()
        if who is None:
            return
        # Before it is known how the conversation stands, so that nothing is missed in between.
        self.subscription = hub.subscribe(self._conversation_id)
        self.opened_at = timezone.now()
        elsewhere.listen(self._conversation_id, self._runs_elsewhere)
        try:
            found = await in_database(_found, who, self._conversation_id)
        except BaseException:
            self._leave()  # `disconnect` is not called where `connect` raises
            raise
        if found is None:
            await self.close(code=CLOSE_NOT_FOUND)
            return
        await self._open(self.subscription, *found)

    async def _open(
        self, subscription: Subscription, conversation: Conversation, standing_now: Standing
    ) -> None:
        self.delivery = Delivery(conversation, self.tell)
        self.delivery.begin(last_seq=standing_now.last_seq)
        running = standing_now.running.pk if standing_now.running else None
        if running is not None:
            self.delivery.hold(running)
            self.spawn(self._release_unasked())
            if runner.live(running) is None and running not in self.following:
                self._follow(running, self.delivery.follow_row(running))
        await self.tell(
            hello_frame(
                conversation,
                model=standing_now.model,
                degraded=standing_now.degraded,
                running=running,
                last_seq=standing_now.last_seq,
            )
        )
        self.spawn(self._pump(subscription, self.delivery))
        self.spawn(self.beat())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if text_data is None or len(text_data.encode("utf-8", "surrogatepass")) > FRAME_MAX_BYTES:
            await self.close(code=CLOSE_TOO_BIG)
            return
        if self.delivery is None:
            return
        if not self.messages.allow("socket"):
            await self.tell(error_frame("rate_limited", f"At most {MESSAGES_PER_MINUTE} messages a minute."))
            return
        try:
            request, refusal = frames.parse(text_data), None
        except frames.BadFrame as error:
            request, refusal = None, error
        asks_to_write = request is not None and not isinstance(request, frames.READING)
        admitted = await self._admitted(writes=asks_to_write)
        if self.who is None or admitted is None or admitted.conversation is None:
            return
        if refusal is not None:
            await self.tell(error_frame(refusal.code, str(refusal), **refusal.fields))
        if request is None:
            return
        try:
            conversation, may_write = admitted.conversation, admitted.may_write
            await Actions(self.who, conversation, self.delivery, may_write=may_write).act(request)
        except Exception as error:
            fields = {"client_key": request.client_key} if isinstance(request, frames.Send) else {}
            unavailable = store_refusal(error)
            if unavailable is not None:
                await self.tell(error_frame(unavailable.code, str(unavailable), **fields))
                return
            logger.exception("A chat frame failed.")
            said = "Something went wrong here; the log of the web process has the details."
            await self.tell(error_frame("internal", said, **fields))

    async def disconnect(self, code: int) -> None:
        """The turn goes on without us."""
        self._leave()
        await super().disconnect(code)

    def _leave(self) -> None:
        if self.subscription is not None:
            hub.unsubscribe(self.subscription)
            elsewhere.leave(self.subscription.conversation_id, self._runs_elsewhere)

    @property
    def _conversation_id(self) -> UUID:
        found: UUID = self.scope["url_route"]["kwargs"]["conversation_id"]
        return found

    async def still_admitted(self) -> bool:
        return await self._admitted() is not None

    async def _admitted(self, *, writes: bool = False) -> Admission | None:
        """What this socket may do now; closed if that is nothing."""
        if self.who is None:
            return None
        found = await in_database(admission, self.who, self._conversation_id, writes=writes)
        if found.conversation is not None:
            return found
        await self.close(code=CLOSE_NOT_FOUND if found.is_known else CLOSE_UNAUTHENTICATED)
        return None

    def _runs_elsewhere(self, turn: Turn) -> None:
        """Told again and again; an end that this socket has told, or that came before it, is no news."""
        told_until = self.ended.get(turn.pk, self.opened_at)
        is_old = turn.finished_at is not None and turn.finished_at <= told_until
        if self.delivery is not None and not is_old and turn.pk not in self.following:
            self._follow(turn.pk, self.delivery.follow_elsewhere(turn.pk))

    def _follow(self, turn_id: UUID, work: Coroutine[Any, Any, None]) -> None:
        async def follow() -> None:
            try:
                await work
                self.ended[turn_id] = timezone.now()
            finally:
                self.following.discard(turn_id)

        self.following.add(turn_id)
        self.spawn(follow())

    async def _pump(self, subscription: Subscription, delivery: Delivery) -> None:
        while True:
            item = await subscription.get()
            await (delivery.catch_up() if item is None else delivery.deliver(item))

    async def _release_unasked(self) -> None:
        """A client that never says what it has gets the running turn from its start."""
        await asyncio.sleep(RESUME_GRACE_S)
        if self.delivery is not None and self.delivery.is_holding:
            await self.delivery.resume(after_seq=None, turn_id=None, offset=0)


def _found(who: AuthenticatedSocket, conversation_id: UUID) -> tuple[Conversation, Standing] | None:
    """The conversation and how it stands, once turns that a dead process left are closed."""
    conversation = conversation_for(who.user, conversation_id, token=who.token)
    if conversation is None:
        return None
    with contextlib.suppress(MaintenanceInProgress):  # reading goes on; the next socket tidies up
        turns_interrupt()
    return conversation, standing(conversation)

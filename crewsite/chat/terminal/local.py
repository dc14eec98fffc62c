"""Chatting on this machine: the services and the runner of the web chat, in this process."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

from django.core.management.base import CommandError

from crewsite.accounts.services import owner_ensure
from crewsite.chat.commands import context_in, is_command, run_command
from crewsite.chat.following import turn_frames, turn_halt, turn_submit
from crewsite.chat.model_choice import model_checked
from crewsite.chat.payloads import turn_closed_frame
from crewsite.chat.permissions import permissions
from crewsite.chat.selectors import conversation_for, model_shown, turn_in
from crewsite.chat.services import turn_start
from crewsite.chat.terminal.door import Opened, Told
from crewsite.chat.threads import in_database
from crewsite.conversations.services import (
    conversation_create,
    conversation_set_mode,
    conversation_set_model,
)
from crewsite.security.origin import Surface

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crewsite.accounts.models import Workspace
    from crewsite.chat.models import Turn
    from crewsite.chat.payloads import Frame
    from crewsite.conversations.models import Conversation

PING_S = 60.0


class LocalChat:
    """Talks as the operator of this site. Follows `door.ChatDoor`."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._user = owner_ensure()
        self._starting: asyncio.Future[tuple[Turn, bool]] | None = None
        self.conversation: Conversation

    def open(self, *, conversation: str, mode: str, model: str) -> Opened:
        name = _model(model) if model else None
        if not conversation:
            self.conversation = conversation_create(
                owner=self._user,
                workspace=self._workspace,
                surface=Surface.CLI,
                mode=mode or "persistent",
                model=name or "",
            )
            return self._opened()
        self.conversation = self._found(conversation)
        if mode:
            conversation_set_mode(conversation=self.conversation, mode=mode)
        if name is not None:
            conversation_set_model(conversation=self.conversation, model=name)
        return self._opened()

    def _found(self, text: str) -> Conversation:
        try:
            found = conversation_for(self._user, uuid.UUID(text))
        except ValueError:
            found = None
        if found is None:
            raise CommandError(f"There is no conversation {text!r} of {self._user.get_username()}.")
        return found

    def _opened(self) -> Opened:
        one = self.conversation
        return Opened(str(one.pk), one.title, one.mode, model_shown(one), one.workspace.slug)

    def is_command(self, text: str) -> bool:
        return is_command(text)

    def command(self, text: str) -> Told:
        one = self.conversation
        result = run_command(context_in(one, self._user), text)
        self.conversation = self._found(result.data.get("conversation") or str(one.pk))
        return Told(result.text, result.ok, result.data)

    async def ask(self, text: str) -> AsyncIterator[Frame]:
        start = in_database(
            turn_start,
            conversation=self.conversation,
            user=self._user,
            text=text,
            client_key=uuid.uuid4().hex,
            surface=Surface.CLI,
        )
        # Shielded: a row that is being written cannot be called back, and `stop` must find it.
        self._starting = asyncio.ensure_future(start)
        turn, _ = await asyncio.shield(self._starting)
        await turn_submit(turn, user_id=self._user.pk)
        async for item in turn_frames(self.conversation, turn.pk, ping_s=PING_S):
            yield item
        self._starting = None

    async def answer(self, item: Frame, choice: str) -> None:
        await permissions.answer(uuid.UUID(item["turn"]), item["id"], choice)

    async def stop(self) -> Frame | None:
        starting, self._starting = self._starting, None
        if starting is None:
            return None
        turn, _ = await starting
        await turn_halt(turn)
        closed = await in_database(turn_in, self.conversation, turn.pk)
        return turn_closed_frame(closed) if closed else None


def _model(name: str) -> str:
    named = model_checked(name)
    if named.choice is None:
        raise CommandError(named.refusal)
    return named.choice.value

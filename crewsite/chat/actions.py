"""What each client frame does: one service each, its outcome told to this socket or to all tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crewsite.chat import frames
from crewsite.chat.branching import BranchRefused, turn_edit, version_choose
from crewsite.chat.bringing_back import bring_back
from crewsite.chat.commands import CommandResult, context_in, is_command, run_command
from crewsite.chat.constants import TURNS_PER_MINUTE
from crewsite.chat.following import turn_halt, turn_submit
from crewsite.chat.hub import hub
from crewsite.chat.interruption import turns_interrupt
from crewsite.chat.keeping import undo
from crewsite.chat.limits import wait_for_turn
from crewsite.chat.payloads import (
    Frame,
    branch_frame,
    error_frame,
    message_frame,
    notice_frame,
    turn_closed_frame,
)
from crewsite.chat.permissions import permissions
from crewsite.chat.runner import runner
from crewsite.chat.selectors import OPEN_STATES, turn_in
from crewsite.chat.services import turn_retry, turn_start
from crewsite.chat.threads import in_database, in_tool_thread
from crewsite.conversations.branches import versions_of
from crewsite.conversations.rendering import render_markdown
from crewsite.security.origin import Surface

if TYPE_CHECKING:
    from uuid import UUID

    from crewsite.accounts.sockets import AuthenticatedSocket
    from crewsite.chat.delivery import Delivery
    from crewsite.chat.models import Turn
    from crewsite.conversations.models import Conversation
    from crewsite.llm.tools import ToolContext


class Actions:
    """The frames of one person on one conversation, both checked just now. `may_write` is looked up for
    frames that need it."""

    def __init__(
        self, who: AuthenticatedSocket, conversation: Conversation, delivery: Delivery, *, may_write: bool
    ) -> None:
        self.who = who
        self.conversation = conversation
        self.delivery = delivery
        self.may_write = may_write

    async def act(self, request: frames.Request) -> None:
        match request:
            case frames.Resume():
                await self.delivery.resume(
                    after_seq=request.after_seq, turn_id=request.turn, offset=request.offset
                )
            case frames.Pong():
                pass
            case _ if not self.may_write:
                await self._tell(error_frame("forbidden", "You may read this conversation, not write to it."))
            case frames.Send() if is_command(request.text):
                await self._command(request.text)
            case frames.Send():
                await (self._send(request) if request.edits is None else self._edit(request, request.edits))
            case frames.Stop():
                await self._stop(request.turn)
            case frames.Retry():
                await self._retry(request.turn)
            case frames.Command():
                await self._command(request.text)
            case frames.Undo():
                await self._undo(request)
            case frames.Restore():
                await self._restore(request)
            case frames.Branch():
                await self._branch(request.message)
            case frames.Answer():
                await self._answer(request)

    async def _tell(self, item: Frame) -> None:
        await self.delivery.deliver(item)

    async def _has_room(self, **names: str) -> bool:
        """`names`: what the refusal is about, for the page."""
        wait = await in_database(wait_for_turn, self.who.user.pk)
        if not wait:
            return True
        text = f"At most {TURNS_PER_MINUTE} answers a minute; ask again in {wait} s."
        await self._tell(error_frame("rate_limited", text, **names))
        return False

    def _surface(self) -> str:
        return Surface.API if self.who.token is not None else ""

    async def _edit(self, request: frames.Send, message_id: int) -> None:
        if not await self._has_room(client_key=request.client_key):
            return
        try:
            edited = await in_database(
                turn_edit,
                conversation=self.conversation,
                message_id=message_id,
                user=self.who.user,
                text=request.text,
                client_key=request.client_key,
                surface=self._surface(),
            )
        except BranchRefused as refusal:
            await self._tell(error_frame(refusal.code, str(refusal), client_key=request.client_key))
            return
        turn = edited.turn
        if not edited.is_new:
            await self._tell_again(turn)
            return
        versions = await in_database(versions_of, [turn.user_message])
        hub.publish(self.conversation.pk, branch_frame(turn.conversation, hidden=edited.hidden))
        of_message = versions.get(turn.user_message_id)
        await turn_submit(turn, user_id=self.who.user.pk, versions=of_message)

    async def _branch(self, message_id: int) -> None:
        try:
            await in_database(version_choose, conversation=self.conversation, message_id=message_id)
        except BranchRefused as refusal:
            await self._tell(error_frame(refusal.code, str(refusal)))
            return
        await in_database(self.conversation.refresh_from_db)
        hub.publish(self.conversation.pk, branch_frame(self.conversation))

    async def _answer(self, request: frames.Answer) -> None:
        turn = await self._turn(request.turn)
        if turn is None:
            return
        if runner.live(turn.pk) is None:
            # Nobody waits any more for an answer to a question whose process is gone.
            await in_database(turns_interrupt)
        if not await permissions.answer(request.turn, request.call, request.choice):
            await self._tell(error_frame("not_asked", "That tool call no longer waits for an answer."))

    async def _send(self, request: frames.Send) -> None:
        if not await self._has_room(client_key=request.client_key):
            return
        turn, is_new = await in_database(
            turn_start,
            conversation=self.conversation,
            user=self.who.user,
            text=request.text,
            client_key=request.client_key,
            attachments=request.attachments,
            surface=self._surface(),
        )
        if not is_new:
            await self._tell_again(turn)
            return
        await turn_submit(turn, user_id=self.who.user.pk)

    async def _tell_again(self, turn: Turn) -> None:
        """The same `client_key` again: the same turn, as it stands."""
        await self._tell(message_frame(turn.user_message, turn=turn))
        if turn.state in OPEN_STATES:
            await self.delivery.show(turn.pk)
        else:
            await self._tell(turn_closed_frame(turn))

    async def _turn(self, turn_id: UUID) -> Turn | None:
        turn = await in_database(turn_in, self.conversation, turn_id)
        if turn is None:
            await self._tell(error_frame("not_found", "There is no such turn in this conversation."))
        return turn

    async def _stop(self, turn_id: UUID) -> None:
        turn = await self._turn(turn_id)
        if turn is not None and turn.state in OPEN_STATES:
            await turn_halt(turn)

    async def _retry(self, turn_id: UUID) -> None:
        if await self._turn(turn_id) is None or not await self._has_room():
            return
        turn = await in_database(turn_retry, turn_id=turn_id)
        if turn is None:
            await self._tell(
                error_frame("not_retryable", "Only a failed or stopped answer can be tried again.")
            )
            return
        await turn_submit(turn, user_id=self.who.user.pk, is_retry=True)

    async def _command(self, text: str) -> None:
        result = await in_tool_thread(run_command, self._context(), text)
        item = _notice(result)
        if {"mode", "model"} & result.data.keys():
            hub.publish(self.conversation.pk, item)
        else:
            await self._tell(item)

    async def _undo(self, request: frames.Undo) -> None:
        taken = await in_tool_thread(undo, self._context(), kind=request.kind, object_id=request.id)
        if not taken.ok:
            await self._tell(error_frame(taken.data["code"], taken.text, kind=request.kind, id=request.id))
            return
        data = {"undone": {"kind": request.kind, "id": request.id}}
        hub.publish(self.conversation.pk, _notice(CommandResult(taken.text, data=data)))

    async def _restore(self, request: frames.Restore) -> None:
        brought = await in_tool_thread(bring_back, self._context(), request.rows)
        if not brought.ok:
            rows = [{"kind": kind, "id": object_id} for kind, object_id in request.rows]
            await self._tell(error_frame(brought.data["code"], brought.text, rows=rows))
            return
        hub.publish(self.conversation.pk, _notice(CommandResult(brought.text, data=brought.data)))

    def _context(self) -> ToolContext:
        return context_in(self.conversation, self.who.user)


def _notice(result: CommandResult) -> Frame:
    level = "info" if result.ok else "warning"
    return notice_frame(result.text, html=render_markdown(result.text), level=level, data=result.data)

"""Questions sent again in other words, and the choice between their versions, while nothing is being
answered. What a socket is told of it is `actions`'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from crewsite.chat.selectors import OPEN_STATES
from crewsite.chat.services import turn_start
from crewsite.conversations.branches import branch_choose, branch_leave
from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.rendering import render_markdown
from crewsite.security.text import clean

if TYPE_CHECKING:
    from crewsite.accounts.models import User
    from crewsite.chat.models import Turn


class BranchRefused(Exception):
    """Why not, as a code of the protocol and a sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Edited:
    """The turn of the new version, whether it is new, and the ids of the messages it took the place of."""

    turn: Turn
    is_new: bool
    hidden: tuple[int, ...] = ()


def turn_edit(
    *, conversation: Conversation, message_id: int, user: User, text: str, client_key: str, surface: str = ""
) -> Edited:
    """Ask a question of the visible branch anew; the same words again ask for another answer. The same
    `client_key` again changes nothing. Raises BranchRefused."""
    html = render_markdown(clean(text))  # before the lock: long texts take a second
    with transaction.atomic():
        row = Conversation.objects.select_for_update().get(pk=conversation.pk)
        known = row.turns.select_related("user_message", "assistant_message").filter(client_key=client_key)
        if (turn := known.first()) is not None:
            return Edited(turn, is_new=False)
        question = _question(row, message_id)
        if not question.is_current:
            raise BranchRefused("not_found", "That message is on another branch by now.")
        hidden = branch_leave(question)
        turn, is_new = turn_start(
            conversation=row,
            user=user,
            text=text,
            client_key=client_key,
            attachments=question.attachments,
            surface=surface,
            instead_of=question,
            html=html,
        )
    return Edited(turn, is_new, tuple(hidden))


def version_choose(*, conversation: Conversation, message_id: int) -> bool:
    """Show another version of a question with all that followed it. Raises BranchRefused."""
    with transaction.atomic():
        row = Conversation.objects.select_for_update().get(pk=conversation.pk)
        return branch_choose(_question(row, message_id))


def _question(conversation: Conversation, message_id: int) -> Message:
    """A question that got a turn of its own; what other programs handed over keeps its one version."""
    asked = conversation.messages.filter(role=Message.Role.USER, turn__isnull=False)
    question = asked.select_related("parent", "conversation").filter(pk=message_id).first()
    if question is None:
        raise BranchRefused("not_found", "There is no such question in this conversation.")
    if conversation.turns.filter(state__in=OPEN_STATES).exists():
        raise BranchRefused("busy", "An answer is being written. Stop it first, or wait for its end.")
    return question

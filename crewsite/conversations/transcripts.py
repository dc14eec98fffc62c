"""Transcripts that other programs hand over, whole or stretch by stretch: each message lands once, in one
conversation a session. Reading and distilling them is consolidation's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from crewsite.conversations.branches import question_before
from crewsite.conversations.indexing import messages_index
from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.rendering import render_markdown
from crewsite.conversations.services import conversation_create, title_propose
from crewsite.security.redaction import redact
from crewsite.security.text import clean

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

Said = tuple[str, str]  # role and text


def transcript_append(
    *,
    owner: User,
    workspace: Workspace,
    surface: str,
    said: Sequence[Said],
    session: str = "",
    project: str = "",
) -> tuple[Conversation, int]:
    """The conversation and how many messages are new in it. What a session already holds at its end is not
    stored twice, so a program may send the whole transcript each time. Without a session: a new conversation.

    Redacted before it is written: nobody typed it here, and transcripts of agents carry what they read.
    """
    cleaned = [(role, redact(clean(text)).text) for role, text in said]
    rendered: dict[str, str] = {text: render_markdown(text) for _, text in cleaned}  # before the lock
    with transaction.atomic():
        conversation = _conversation(owner, workspace, surface, session, project)
        fresh = fresh_part(_tail(conversation, len(cleaned)), cleaned)
        _store(conversation, owner, fresh, rendered, private=not conversation.writes_memory)
    return conversation, len(fresh)


def conversation_continue(
    *, owner: User, workspace: Workspace, surface: str, agent_prompt: str, said: Sequence[Said]
) -> Conversation:
    """A new conversation that goes on with what was said elsewhere. That is kept out of consolidation,
    because where it was said it may have been consolidated already."""
    cleaned = [(role, clean(text)) for role, text in said]
    rendered: dict[str, str] = {text: render_markdown(text) for _, text in cleaned}  # before the lock
    with transaction.atomic():
        conversation = conversation_create(
            owner=owner, workspace=workspace, surface=surface, agent_prompt=agent_prompt
        )
        _store(conversation, owner, cleaned, rendered, private=True)
    return conversation


def fresh_part(stored: Sequence[Said], given: Sequence[Said]) -> list[Said]:
    """What of a stretch comes after the longest part of its beginning that is the end of what is stored."""
    for length in range(min(len(stored), len(given)), 0, -1):
        if list(stored[-length:]) == list(given[:length]):
            return list(given[length:])
    return list(given)


def _conversation(
    owner: User, workspace: Workspace, surface: str, session: str, project: str
) -> Conversation:
    """Locked. The reference names person and workspace: somebody else's session is another conversation."""
    if not session:
        return conversation_create(owner=owner, workspace=workspace, surface=surface, project=project)
    row, _ = Conversation.objects.get_or_create(
        surface=surface,
        external_ref=f"{workspace.pk}:{owner.pk}:{session}",
        defaults={"owner": owner, "workspace": workspace, "project": project},
    )
    return Conversation.objects.select_for_update().get(pk=row.pk)


def _tail(conversation: Conversation, length: int) -> list[Said]:
    newest = conversation.messages.order_by("-seq").values_list("role", "content")[:length]
    return list(reversed(newest))


def _follow(conversation: Conversation, stored: Sequence[Message]) -> None:
    """Each after the question before it."""
    parent = question_before(conversation, before_seq=stored[0].seq)
    for message in stored:
        message.parent = parent
        if message.role == Message.Role.USER:
            parent = message
    Message.objects.bulk_update(stored, ["parent"])


def _store(
    conversation: Conversation,
    owner: User,
    fresh: Sequence[Said],
    rendered: dict[str, str],
    *,
    private: bool,
) -> None:
    if not fresh:
        return
    last = conversation.messages.aggregate(last=Max("seq"))["last"] or 0
    stored = Message.objects.bulk_create(
        Message(
            conversation=conversation,
            seq=last + place,
            role=role,
            author=owner if role == Message.Role.USER else None,
            content=text,
            content_html=rendered[text],
            private=private,
        )
        for place, (role, text) in enumerate(fresh, start=1)
    )
    _follow(conversation, stored)
    messages_index(stored, conversation)
    conversation.last_activity_at = timezone.now()
    if not conversation.title:
        asked = next((text for role, text in fresh if role == Message.Role.USER), fresh[0][1])
        conversation.title = title_propose(asked)
    conversation.save(update_fields=["last_activity_at", "title"])

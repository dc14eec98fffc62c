"""Writes of conversations and messages. What a turn is, and who may run one, belongs to chat."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Max
from django.utils import timezone

from crewsite.conversations.branches import question_before
from crewsite.conversations.constants import (
    MODEL_MAX_CHARS,
    TITLE_LEAST_WORDS,
    TITLE_MAX_CHARS,
    TITLE_PROPOSED_CHARS,
    TITLE_PROPOSED_WORDS,
)
from crewsite.conversations.indexing import messages_index, messages_unindex
from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.rendering import render_markdown
from crewsite.rows import row_insert
from crewsite.security.events import event_record
from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Surface
from crewsite.security.text import clean, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crewsite.accounts.models import User, Workspace
    from crewsite.security.origin import Origin


# Runs every second for every answer that streams; the ORM would build each statement anew.
_OVERWRITE: Final = "UPDATE conversations_message SET content = %s, tool_calls = %s WHERE id = %s"


def conversation_create(
    *,
    owner: User,
    workspace: Workspace,
    surface: str = Surface.WEB,
    mode: str = Conversation.Mode.PERSISTENT,
    title: str = "",
    model: str = "",
    project: str = "",
    agent_prompt: str = "",
    external_ref: str = "",
) -> Conversation:
    return Conversation.objects.create(
        owner=owner,
        workspace=workspace,
        surface=surface,
        mode=mode,
        title=clean(title).strip()[:TITLE_MAX_CHARS],
        model=model,
        project=project,
        agent_prompt=agent_prompt,
        external_ref=external_ref,
    )


def message_append(
    *,
    conversation: Conversation,
    role: Message.Role,
    content: str,
    author: User | None = None,
    author_label: str = "",
    private: bool | None = None,
    tool_calls: Sequence[dict[str, Any]] = (),
    attachments: Sequence[dict[str, Any]] = (),
    finish_reason: str = "",
    html: str | None = None,
    parent: Message | None = None,
    is_first: bool = False,
    with_vectors: bool = True,
    is_locked: bool = False,
) -> Message:
    """Append under the next `seq`; the conversation row is locked while it is found, so two writers never
    share one. `is_locked`: by the caller, whose row is as it stands.

    `private` follows the conversation's mode unless given: messages of a private stretch are never
    consolidated. `parent` is the question it follows, the newest visible one unless given; `is_first`: it
    follows none, though others stand there. Without `with_vectors` the caller asks for them (`vectors_later`)
    when more is said.
    """
    text = clean(content)
    html = render_markdown(text) if html is None else html  # before the lock: long texts take a second
    with transaction.atomic(savepoint=False):
        row = conversation if is_locked else Conversation.objects.select_for_update().get(pk=conversation.pk)
        last = row.messages.aggregate(last=Max("seq"))["last"] or 0
        message = Message(
            conversation=row,
            seq=last + 1,
            role=role,
            parent=None if is_first else parent or question_before(row),
            author=author,
            author_label=author_label,
            content=text,
            content_html=html,
            tool_calls=list(tool_calls),
            attachments=list(attachments),
            finish_reason=finish_reason,
            private=(not row.writes_memory) if private is None else private,
        )
        row_insert(message)
        if text:
            messages_index([message], row, with_vectors=with_vectors)
        row.last_activity_at = message.created_at
        row.save(update_fields=["last_activity_at"])
    conversation.last_activity_at = row.last_activity_at
    return message


def message_update(
    *,
    message: Message,
    content: str,
    tool_calls: Sequence[dict[str, Any]] | None = None,
    finish_reason: str | None = None,
    usage: dict[str, Any] | None = None,
    html: str | None = None,
    is_searchable: bool = True,
    with_vectors: bool = True,
) -> Message:
    """Replace the content of a message. `html` is its rendering, where the caller made it before a lock;
    `with_vectors` as in `message_append`."""
    message.content = clean(content)
    message.content_html = render_markdown(message.content) if html is None else html
    message.is_searchable = is_searchable
    fields = ["content", "content_html", "is_searchable"]
    for name, value in (("tool_calls", tool_calls), ("finish_reason", finish_reason), ("usage", usage)):
        if value is not None:
            setattr(message, name, list(value) if name == "tool_calls" else value)
            fields.append(name)
    with transaction.atomic(savepoint=False):
        message.save(update_fields=fields)
        messages_index([message], message.conversation, with_vectors=with_vectors)
    return message


def messages_overwrite(*, drafts: Sequence[tuple[int, str, Sequence[dict[str, Any]]]]) -> None:
    """Text and tool calls of messages, by id, that are still being written: neither rendered nor searched."""
    here = connections[DEFAULT_DB_ALIAS]
    calls_field = Message._meta.get_field("tool_calls")
    rows = [(clean(text), calls_field.get_db_prep_save(list(calls), here), pk) for pk, text, calls in drafts]
    with here.cursor() as cursor:
        cursor.executemany(_OVERWRITE, rows)


def conversation_rename(*, conversation: Conversation, title: str) -> Conversation:
    conversation.title = " ".join(clean(title).split())[:TITLE_MAX_CHARS]
    conversation.save(update_fields=["title"])
    return conversation


def conversation_set_mode(*, conversation: Conversation, mode: str) -> Conversation:
    """From the next message on; what was said in another mode keeps its mark."""
    conversation.mode = mode
    conversation.save(update_fields=["mode"])
    return conversation


def conversation_set_model(*, conversation: Conversation, model: str) -> Conversation:
    """From the next message on. Empty: the site's default."""
    conversation.model = clean(model).strip()[:MODEL_MAX_CHARS]
    conversation.save(update_fields=["model"])
    return conversation


def conversation_pin(*, conversation: Conversation, pinned: bool) -> Conversation:
    conversation.pinned = pinned
    conversation.save(update_fields=["pinned"])
    return conversation


def conversation_archive(*, conversation: Conversation, archived: bool = True) -> Conversation:
    """Out of the list, and back."""
    conversation.archived_at = timezone.now() if archived else None
    conversation.save(update_fields=["archived_at"])
    return conversation


def conversation_delete(*, conversation: Conversation, origin: Origin) -> int:
    """The conversation with its messages, out of the search too; how many messages there were. What memory
    learned from it stays. The event keeps neither title nor words: they were to be gone."""
    with transaction.atomic():
        row = Conversation.objects.select_for_update().get(pk=conversation.pk)
        ids = list(row.messages.values_list("pk", flat=True))
        messages_unindex(ids, row)
        event_record(
            home_id=row.workspace_id,
            event=MemoryEvent.Event.DELETE,
            memory_type="conversation",
            reason=f"deleted with {number_of(len(ids), 'message')}",
            origin=origin,
        )
        row.delete()
    return len(ids)


def title_propose(text: str) -> str:
    """A title from the first words of a message: its first sentence, or more where that is but a greeting,
    without Markdown signs, cut between words."""
    plain = re.sub(r"[`*_#>\[\]]+", "", clean(text))
    sentences = [text for text in re.split(r"(?<=[.!?])\s|\n", plain) if text.strip()]
    first = ""
    for sentence in sentences:
        first = f"{first} {sentence}".strip()
        if len(first.split()) >= TITLE_LEAST_WORDS:
            break
    words = " ".join(first.split()[:TITLE_PROPOSED_WORDS])
    if len(words) > TITLE_PROPOSED_CHARS:
        return words[: TITLE_PROPOSED_CHARS - 1].rsplit(" ", 1)[0].rstrip(" .,;:") + "…"
    words = words.rstrip(" .,;:")
    return f"{words}…" if len(first.split()) > TITLE_PROPOSED_WORDS else words

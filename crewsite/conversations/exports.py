"""A conversation as a file to take along: Markdown for people, JSON for programs. Keys and passwords in what
was said stay here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crewsite.conversations.indexing import speaker_of
from crewsite.conversations.models import Message
from crewsite.security.redaction import redact, redact_all

if TYPE_CHECKING:
    from crewsite.conversations.models import Conversation

EXPORT_VERSION = 1


def conversation_markdown(conversation: Conversation) -> str:
    """The visible branch, each message under who said it and when."""
    title = " ".join(str(conversation).split())
    parts = [f"# {redact(title).text}", f"*{conversation.workspace}, {conversation.created_at:%Y-%m-%d}*"]
    for message in conversation.messages.filter(is_current=True).select_related("author").order_by("seq"):
        parts.append(f"## {_name(message)}, {message.created_at:%Y-%m-%d %H:%M}")
        parts += [f"> Tool `{call.get('name')}`: {call.get('state')}" for call in _calls(message)]
        if message.content:
            parts.append(redact(message.content).text)
    return "\n\n".join(parts) + "\n"


def conversation_json(conversation: Conversation) -> str:
    """Every message with its versions: `parent` is the `seq` of the question it follows, `current` whether it
    is on the visible branch."""
    rows = list(conversation.messages.select_related("author", "parent").order_by("seq"))
    fields = {
        "version": EXPORT_VERSION,
        "id": str(conversation.pk),
        "title": redact(conversation.title).text,
        "workspace": conversation.workspace.slug,
        "surface": conversation.surface,
        "mode": conversation.mode,
        "model": conversation.model,
        "created_at": conversation.created_at.isoformat(),
        "messages": [_fields(row) for row in rows],
    }
    return json.dumps(fields, ensure_ascii=False, indent=2) + "\n"


def _fields(message: Message) -> dict[str, Any]:
    return {
        "seq": message.seq,
        "parent": message.parent.seq if message.parent else None,
        "current": message.is_current,
        "role": message.role,
        "author": speaker_of(message),
        "content": redact(message.content).text,
        "tool_calls": redact_all(_calls(message)),
        "attachments": message.attachments,
        "usage": message.usage,
        "finish_reason": message.finish_reason,
        "private": message.private,
        "created_at": message.created_at.isoformat(),
    }


def _name(message: Message) -> str:
    return "Crewsite" if message.role == Message.Role.ASSISTANT else speaker_of(message)


def _calls(message: Message) -> list[dict[str, Any]]:
    return [call for call in message.tool_calls if isinstance(call, dict)]

"""Factories shared by all tests: one function per thing, every field overridable."""

from __future__ import annotations

from typing import Any

from crewsite.accounts.models import Membership, Role, User, Workspace
from crewsite.chat.answers import answer_html
from crewsite.conversations.models import Conversation, Message
from crewsite.security.origin import Origin, Source, Surface

EXPLICIT = Origin(source=Source.USER_EXPLICIT, surface=Surface.CLI, actor="alice")
CONSOLIDATION = Origin(source=Source.CONSOLIDATION, surface=Surface.TASK)


def make_user(name: str = "alice", **fields: Any) -> User:
    return User.objects.create_user(username=name, password="correct horse battery", **fields)


def make_workspace(slug: str = "default", **fields: Any) -> Workspace:
    return Workspace.objects.get_or_create(slug=slug, defaults={"name": slug.title(), **fields})[0]


def make_member(user: User, workspace: Workspace, role: Role = Role.MEMBER) -> Membership:
    return Membership.objects.create(user=user, workspace=workspace, role=role)


def make_conversation(owner: User, workspace: Workspace, **fields: Any) -> Conversation:
    return Conversation.objects.create(owner=owner, workspace=workspace, **fields)


def make_message(conversation: Conversation, content: str = "hello", **fields: Any) -> Message:
    seq = conversation.messages.count() + 1
    given = {"role": Message.Role.USER, "content": content, "tool_calls": [], **fields}
    html = answer_html(str(given["content"]), given["tool_calls"])
    return Message.objects.create(**{"conversation": conversation, "seq": seq, "content_html": html, **given})

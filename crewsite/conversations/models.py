"""Conversations and messages: the transcript every surface writes and consolidation reads."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.utils import timezone

from crewsite.accounts.models import User, Workspace
from crewsite.security.origin import Surface

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def for_user(self, user: User | AnonymousUser) -> ConversationQuerySet:
        """A person's own conversations in workspaces they still belong to."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(owner=user, workspace__in=Workspace.objects.for_user(user))

    def current(self) -> ConversationQuerySet:
        return self.filter(archived_at__isnull=True)


class Conversation(models.Model):
    class Mode(models.TextChoices):
        PERSISTENT = "persistent", "Remembers"
        INCOGNITO = "incognito", "Reads memory, writes none"
        TEMPORARY = "temporary", "Neither reads nor writes memory"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="conversations")
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="conversations")
    title = models.CharField(max_length=200, blank=True)
    surface = models.CharField(max_length=16, choices=Surface.choices, default=Surface.WEB)
    mode = models.CharField(max_length=16, choices=Mode.choices, default=Mode.PERSISTENT)
    learns = models.BooleanField(default=True, help_text="Off: consolidation leaves this conversation out.")
    model = models.CharField(max_length=200, blank=True, help_text="Empty: the site's default model.")
    agent_prompt = models.TextField(blank=True)
    project = models.CharField(
        max_length=500, blank=True, help_text="Path of the project the conversation is about."
    )
    pinned = models.BooleanField(default=False)
    archived_at = models.DateTimeField(null=True, blank=True)
    prefs_offset = models.PositiveIntegerField(default=0)
    consolidated_until = models.PositiveIntegerField(default=0)
    last_activity_at = models.DateTimeField(default=timezone.now, db_index=True)
    external_ref = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    branched_at = models.DateTimeField(
        null=True, blank=True, help_text="When another branch was last made the visible one."
    )

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering = ["-last_activity_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["surface", "external_ref"],
                condition=~Q(external_ref=""),
                name="conversations_external_unique",
            )
        ]

    def __str__(self) -> str:
        return self.title or "New conversation"

    @property
    def reads_memory(self) -> bool:
        return self.mode != self.Mode.TEMPORARY

    @property
    def writes_memory(self) -> bool:
        return self.mode == self.Mode.PERSISTENT


class Message(models.Model):
    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        SYSTEM = "system"
        TOOL = "tool"

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    seq = models.PositiveIntegerField()
    role = models.CharField(max_length=16, choices=Role.choices)
    parent = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="children",
        help_text="Of a question the question before it; of anything else the question it follows.",
    )
    is_current = models.BooleanField(
        default=True, help_text="On the visible branch: off, once another version of it was sent or chosen."
    )
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    author_label = models.CharField(max_length=150, blank=True)
    content = models.TextField(blank=True)
    content_html = models.TextField(blank=True, help_text="Sanitised rendering of the content, cached.")
    tool_calls = models.JSONField(default=list, blank=True)
    attachments = models.JSONField(default=list, blank=True)
    usage = models.JSONField(default=dict, blank=True)
    finish_reason = models.CharField(max_length=32, blank=True, help_text="stop, stopped, interrupted, error")
    is_searchable = models.BooleanField(
        default=True, help_text="Off: what it says is in memory already, and answers no search."
    )
    private = models.BooleanField(
        default=False, help_text="Written in a private stretch: never consolidated."
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["conversation", "seq"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "seq"], name="conversations_message_seq")
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.content[:60]}"

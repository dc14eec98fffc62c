"""Turns: a user message with the reply it causes, every memory row that was injected for it, and what its
tools asked the person."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from crewsite.conversations.models import Conversation, Message
from crewsite.security.origin import Surface


class Turn(models.Model):
    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="turns")
    user_message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="turn")
    assistant_message = models.OneToOneField(
        Message, on_delete=models.SET_NULL, null=True, blank=True, related_name="answered_turn"
    )
    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED)
    error = models.TextField(blank=True)
    retryable = models.BooleanField(default=False)
    client_key = models.CharField(max_length=100)
    model = models.CharField(max_length=200, blank=True)
    mode = models.CharField(
        max_length=16,
        choices=Conversation.Mode.choices,
        default=Conversation.Mode.PERSISTENT,
        help_text="The memory mode the message was sent in.",
    )
    surface = models.CharField(
        max_length=16, choices=Surface.choices, default=Surface.WEB, help_text="Where the message was sent."
    )
    packet = models.JSONField(
        default=dict, blank=True, help_text="The context packet: blocks, sizes, what was left out."
    )
    runner = models.CharField(max_length=100, blank=True, help_text="The process that runs it.")
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    first_token_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "client_key"], name="chat_turn_client_key"),
            # Whatever number of processes: two answers of a conversation are never given at once.
            models.UniqueConstraint(
                fields=["conversation"], condition=Q(state="running"), name="chat_turn_one_running"
            ),
        ]
        indexes = [models.Index(fields=["state", "heartbeat_at"], name="chat_turn_state")]

    def __str__(self) -> str:
        return f"turn {self.id} ({self.state})"


class TurnInjection(models.Model):
    """One memory row that was put into the prompt of one turn."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="injections")
    kind = models.CharField(max_length=32)
    object_id = models.BigIntegerField()
    rank = models.PositiveIntegerField()
    score = models.FloatField(null=True, blank=True)
    with_message = models.BooleanField(
        default=False, help_text="Added with the message, not part of what the conversation starts with."
    )

    class Meta:
        ordering = ["turn", "rank"]
        indexes = [models.Index(fields=["kind", "object_id"], name="chat_injection_object")]

    def __str__(self) -> str:
        return f"{self.kind} #{self.object_id}"


class ToolQuestion(models.Model):
    """A tool call that waits for the person. The process that asked reads the answer here, whichever process
    the person gave it to."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="questions")
    call_id = models.TextField(help_text="The call, as its model or agent names it.")
    choices = models.JSONField(default=list, help_text="The ids the answer may be.")
    choice = models.TextField(blank=True, help_text="What the person chose; empty: nothing.")
    is_open = models.BooleanField(default=True)
    asked_at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["asked_at"]

    def __str__(self) -> str:
        return f"{self.call_id}: {self.choice or ('waiting' if self.is_open else 'no answer')}"

"""The receipt of a consolidation pass: what was read, by which prompt and model, and what became of it."""

from __future__ import annotations

import datetime as dt

from django.db import models

from crewsite.accounts.models import Workspace
from crewsite.conversations.models import Conversation
from crewsite.rows import Row


class ReceiptQuerySet(models.QuerySet["ConsolidationReceipt"]):
    def of(self, conversation: Conversation, path: str) -> ReceiptQuerySet:
        return self.filter(conversation=conversation, path=path)

    def failed(self) -> ReceiptQuerySet:
        return self.filter(state=ConsolidationReceipt.State.FAILED)

    def done(self) -> ReceiptQuerySet:
        return self.filter(state=ConsolidationReceipt.State.DONE)


class ConsolidationReceipt(Row):
    """One range of one conversation on one path. Written with the results it names, in their transaction; a
    range that failed keeps its row, which the attempt that succeeds turns into `done`."""

    class Path(models.TextChoices):
        PREFERENCES = "preferences", "Preferences"
        HISTORY = "history", "History"
        REQUESTS = "requests", "Explicit requests, read without a model"

    class State(models.TextChoices):
        DONE = "done"
        FAILED = "failed"

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="consolidations")
    conversation = models.ForeignKey(
        Conversation, on_delete=models.SET_NULL, null=True, blank=True, related_name="consolidations"
    )
    path = models.CharField(max_length=16, choices=Path.choices)
    state = models.CharField(max_length=16, choices=State.choices)
    first_seq = models.PositiveIntegerField(help_text="First message of the range, by its number.")
    last_seq = models.PositiveIntegerField()
    messages = models.PositiveIntegerField(default=0, help_text="Messages of the range a model may see.")
    messages_cut = models.PositiveIntegerField(
        default=0, help_text="Of these, how many did not fit its input."
    )
    fingerprint = models.CharField(max_length=64, blank=True, help_text="Hash of the range as it was read.")
    prompt_version = models.CharField(max_length=32, blank=True)
    prompt_hash = models.CharField(max_length=64, blank=True, help_text="Hash of the prompt's files.")
    model = models.CharField(max_length=200, blank=True)
    usage = models.JSONField(default=dict, blank=True)
    counts = models.JSONField(default=dict, blank=True, help_text="Outcomes by layer.")
    refused = models.JSONField(default=list, blank=True, help_text="Entries that were not stored, and why.")
    written = models.JSONField(default=list, blank=True, help_text="Kind and id of each row it wrote.")
    reason = models.TextField(blank=True, help_text="Why the last attempt failed.")
    tries = models.PositiveIntegerField(default=0, help_text="Failed attempts that count against the limit.")
    deferred = models.PositiveIntegerField(default=0, help_text="Attempts the endpoint was not there for.")
    retry_at = models.DateTimeField(
        null=True, blank=True, help_text="Empty on a failed range: not by itself."
    )

    objects = ReceiptQuerySet.as_manager()

    class Meta:
        ordering = ["-updated_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "path", "first_seq", "last_seq"], name="memory_receipt_range"
            )
        ]
        indexes = [
            models.Index(fields=["conversation", "path", "-last_seq"], name="memory_receipt_conversation"),
            models.Index(fields=["workspace", "-updated_at"], name="memory_receipt_workspace"),
        ]

    def __str__(self) -> str:
        return f"{self.get_path_display()} {self.first_seq}-{self.last_seq} ({self.state})"

    def is_blocked(self, now: dt.datetime) -> bool:
        """Whether this failed range waits: for its time, or for new messages or a person."""
        return self.state == self.State.FAILED and (self.retry_at is None or self.retry_at > now)

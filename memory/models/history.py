"""Layer 3: append-only summaries, filed under the local day of their workspace."""

from __future__ import annotations

from django.db import models

from crewsite.accounts.models import Workspace
from crewsite.conversations.models import Conversation
from crewsite.rows import Row


class HistoryEntry(Row):
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="history")
    day = models.DateField(help_text="Local day in the workspace's time zone.")
    time = models.TimeField(help_text="Local time in the workspace's time zone.")
    title = models.CharField(max_length=200)
    text = models.TextField()
    conversation = models.ForeignKey(
        Conversation, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-day", "time", "id"]
        verbose_name_plural = "history entries"
        indexes = [
            models.Index(fields=["workspace", "-day", "time", "id"], name="memory_history_day"),
            # Tells whether anything has changed without reading the rows.
            models.Index(fields=["workspace", "updated_at"], name="memory_history_state"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.title}"

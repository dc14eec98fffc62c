"""The review queue: what the heuristics would not decide alone."""

from __future__ import annotations

from django.db import models

from crewsite.accounts.models import Workspace
from crewsite.rows import Row


class ReviewItem(Row):
    class Kind(models.TextChoices):
        POSSIBLY_SUPERSEDES = "possibly_supersedes", "Replaces an older one?"
        REFUSED_EXPLICIT = "refused_explicit", "Refused write a person asked for"
        PROPOSED_LESSON = "proposed_lesson", "Proposed lesson"

    class State(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        REJECTED = "rejected"

    home = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="review_items")
    kind = models.CharField(max_length=32, choices=Kind.choices)
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    summary = models.CharField(max_length=300)
    payload = models.JSONField(default=dict, help_text="What accepting it would write.")
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["home", "state"], name="memory_review_state")]

    def __str__(self) -> str:
        return self.summary

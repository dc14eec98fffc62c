"""Layer 5: short pieces of text about past events."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from crewsite.accounts.models import Workspace
from crewsite.conversations.models import Conversation
from crewsite.rows import LiveManager, TombstonableRow, TombstoneQuerySet
from crewsite.security.origin import Source


class EpisodicQuerySet(TombstoneQuerySet["EpisodicMemory"]):
    def in_home(self, home: Workspace) -> EpisodicQuerySet:
        return self.filter(home=home)

    def eviction_order(self) -> EpisodicQuerySet:
        return self.order_by("importance", "created_at", "id")


class EpisodicMemory(TombstonableRow):
    home = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="episodic_memories")
    text = models.TextField()
    folded_hash = models.CharField(
        max_length=32, help_text="Hash of the text after case and Unicode folding."
    )
    importance = models.FloatField(default=0.5)
    tags = models.JSONField(default=list, blank=True)
    source = models.CharField(max_length=16, choices=Source.choices)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    conversation = models.ForeignKey(
        Conversation, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    confirmed_at = models.DateTimeField(
        null=True, blank=True, help_text="Last time the same thing was said again."
    )
    times_seen = models.PositiveIntegerField(default=1)
    last_accessed_at = models.DateTimeField(null=True, blank=True)
    access_count = models.PositiveIntegerField(default=0)
    possibly_supersedes = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="possibly_superseded_by",
        db_index=False,
    )

    objects = LiveManager.from_queryset(EpisodicQuerySet)()
    all_objects = EpisodicQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        base_manager_name = "all_objects"
        verbose_name = "episode"
        indexes = [
            models.Index(fields=["home", "folded_hash"], name="memory_episodic_folded"),
            # Of the few rows that have one: every search asks which of its rows are named here.
            models.Index(
                fields=["possibly_supersedes"],
                condition=Q(possibly_supersedes__isnull=False),
                name="memory_episodic_supersedes",
            ),
            # With the column of its own condition, without which SQLite reads every row to count them.
            models.Index(
                fields=["home", "importance", "created_at", "is_deleted"],
                condition=Q(is_deleted=False),
                name="memory_episodic_evict",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(importance__gte=0) & Q(importance__lte=1), name="memory_episodic_importance_range"
            )
        ]

    def __str__(self) -> str:
        return self.text[:60]

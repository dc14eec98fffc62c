"""Layer 4: facts under a key, with confidence and provenance."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from crewsite.accounts.models import Workspace
from crewsite.conversations.models import Conversation
from crewsite.rows import LiveManager, TombstonableRow, TombstoneQuerySet
from crewsite.security.origin import Source


class SemanticQuerySet(TombstoneQuerySet["SemanticMemory"]):
    def in_home(self, home: Workspace) -> SemanticQuerySet:
        return self.filter(home=home)

    def restorable(self) -> SemanticQuerySet:
        """Without the earlier lives of a row that goes on, known by its time of birth."""
        return self.without_past("home", "key", "created_at")


class SemanticMemory(TombstonableRow):
    """A superseded value is tombstoned with reason `superseded` and points to its successor."""

    home = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="semantic_memories")
    key = models.CharField(max_length=100)
    value = models.JSONField()
    confidence = models.FloatField(default=1.0)
    source = models.CharField(max_length=16, choices=Source.choices)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    conversation = models.ForeignKey(
        Conversation, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    valid_from = models.DateTimeField(default=timezone.now)
    superseded_by = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="supersedes"
    )

    objects = LiveManager.from_queryset(SemanticQuerySet)()
    all_objects = SemanticQuerySet.as_manager()

    class Meta:
        ordering = ["key"]
        base_manager_name = "all_objects"
        verbose_name = "fact"
        # What a prompt takes is read in these orders. They end with the column of their own condition,
        # without which SQLite reads every row to count them.
        indexes = [
            models.Index(
                fields=["home", "source", "updated_at", "id", "is_deleted"],
                condition=Q(is_deleted=False),
                name="memory_semantic_by_source",
            ),
            models.Index(
                fields=["home", "updated_at", "id", "is_deleted"],
                condition=Q(is_deleted=False),
                name="memory_semantic_by_age",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["home", "key"], condition=Q(is_deleted=False), name="memory_semantic_one_live_key"
            ),
            models.CheckConstraint(
                condition=Q(confidence__gte=0) & Q(confidence__lte=1), name="memory_semantic_confidence_range"
            ),
        ]

    def __str__(self) -> str:
        return self.key

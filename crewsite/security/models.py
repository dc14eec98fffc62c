"""Audit rows. They keep ids and labels, no foreign keys: they outlive the users and workspaces they name."""

from __future__ import annotations

from typing import Final

from django.db import models
from django.db.models import Q
from django.utils import timezone

from crewsite.security.origin import Source, Surface

# The layers that a memory home shares with its guests. What else is told of a home is its own: its documents,
# history, instructions, consolidation.
SHARED_LAYERS: Final = ("semantic", "episodic", "lesson")


class MemoryEventQuerySet(models.QuerySet["MemoryEvent"]):
    def in_home(self, home_id: int) -> MemoryEventQuerySet:
        return self.filter(home_id=home_id)

    def read_from(self, workspace_id: int, *, home_id: int) -> MemoryEventQuerySet:
        """What happened in a workspace, and to the layers that it shares with its memory home."""
        shared = Q(home_id=home_id, memory_type__in=SHARED_LAYERS)
        return self.filter(Q(home_id=workspace_id) | shared)


class MemoryEvent(models.Model):
    """One change, refusal or removal of a memory row, written in the transaction of the change itself."""

    class Event(models.TextChoices):
        CREATE = "create"
        UPDATE = "update"
        DELETE = "delete"
        RESTORE = "restore"
        CONFLICT_SKIP = "conflict_skip"
        INJECTION_BLOCKED = "injection_blocked"
        REFUSED = "refused"
        EVICTED = "evicted"
        SUPERSEDED = "superseded"
        MIGRATION = "migration"
        DEDUPED = "deduped"
        EVENTS_DROPPED = "events_dropped"
        PRUNED = "pruned"
        REDACTED = "redacted"

    home_id = models.BigIntegerField(help_text="Id of the memory home (a workspace) the row belongs to.")
    event = models.CharField(max_length=32, choices=Event.choices)
    memory_type = models.CharField(
        max_length=32, help_text="semantic, episodic, lesson, preferences, projects, history"
    )
    object_id = models.BigIntegerField(null=True, blank=True)
    old_value = models.TextField(blank=True)
    new_value = models.TextField(blank=True)
    reason = models.CharField(max_length=200, blank=True)
    source = models.CharField(max_length=16, choices=Source.choices, blank=True)
    actor = models.CharField(max_length=150, blank=True)
    surface = models.CharField(max_length=16, choices=Surface.choices, blank=True)
    conversation_id = models.UUIDField(null=True, blank=True)
    at = models.DateTimeField(default=timezone.now)

    objects = MemoryEventQuerySet.as_manager()

    class Meta:
        db_table = "memory_events"
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["home_id", "-id"], name="memory_events_home"),
            models.Index(fields=["memory_type", "object_id"], name="memory_events_object"),
            models.Index(fields=["event", "at"], name="memory_events_event"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.memory_type} {self.object_id or ''}".strip()

"""Layers 1 and 2: one Markdown document each, replaced whole, every version kept."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from crewsite.accounts.models import Workspace
from crewsite.conversations.models import Conversation
from crewsite.rows import Row
from crewsite.security.origin import Source


class DocumentQuerySet(models.QuerySet["VersionedDocument"]):
    def in_workspace(self, workspace: Workspace) -> DocumentQuerySet:
        return self.filter(workspace=workspace)

    def live(self) -> DocumentQuerySet:
        return self.filter(replaced_at__isnull=True)


class VersionedDocument(Row):
    """A version of a workspace's document; the one without `replaced_at` is in force."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="%(class)ss")
    version = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    source = models.CharField(max_length=16, choices=Source.choices)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    conversation = models.ForeignKey(
        Conversation, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    replaced_at = models.DateTimeField(null=True, blank=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.workspace} v{self.version}"


def _document_meta(table: str) -> list[models.BaseConstraint]:
    return [
        models.UniqueConstraint(
            fields=["workspace"], condition=Q(replaced_at__isnull=True), name=f"{table}_one_live"
        ),
        models.UniqueConstraint(fields=["workspace", "version"], name=f"{table}_version"),
    ]


class PreferencesDocument(VersionedDocument):
    """Layer 1: habits, tools, tone."""

    class Meta:
        ordering = ["workspace", "-version"]
        verbose_name = "preferences"
        verbose_name_plural = "preferences"
        constraints = _document_meta("memory_preferences")


class ProjectsDocument(VersionedDocument):
    """Layer 2: what is being worked on."""

    class Meta:
        ordering = ["workspace", "-version"]
        verbose_name = "projects"
        verbose_name_plural = "projects"
        constraints = _document_meta("memory_projects")

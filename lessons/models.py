"""Layer 6: rules people taught."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from crewsite.accounts.models import Workspace
from crewsite.conversations.models import Conversation
from crewsite.rows import LiveManager, TombstonableRow, TombstoneQuerySet
from crewsite.security.origin import Source
from lessons.scopes import scopes_of

TAUGHT_FIRST = Case(When(source=Source.USER_EXPLICIT.value, then=Value(0)), default=Value(1))


class LessonQuerySet(TombstoneQuerySet["Lesson"]):
    def in_home(self, home: Workspace) -> LessonQuerySet:
        return self.filter(home=home)

    def reaching(self, project: str) -> LessonQuerySet:
        """Lessons in force for a project path: those without a scope, and those whose scope the path lies
        in.
        """
        return self.filter(scope__in=["", *scopes_of(project)])

    def restorable(self) -> LessonQuerySet:
        """Of the tombstones one a wording, and none of a wording in force: those a restore brings back."""
        return self.without_past("home", "key", "negative")

    def by_rank(self) -> LessonQuerySet:
        """Pinned, then what people taught, newest first, then the rest, newest first."""
        return self.order_by("-pinned", TAUGHT_FIRST, "-updated_at", "-pk")


class Lesson(TombstonableRow):
    """`key` is `lesson.` and the md5 of the folded rule and scope. A superseded lesson is tombstoned and
    linked.
    """

    class Category(models.TextChoices):
        TOOL = "tool", "Tool"
        PREFERENCE = "preference", "Preference"
        KNOWLEDGE = "knowledge", "Knowledge"

    home = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="lessons")
    key = models.CharField(max_length=64)
    rule = models.CharField(max_length=1000)
    negative = models.CharField(max_length=1000, blank=True, help_text="What not to do instead.")
    category = models.CharField(max_length=16, choices=Category.choices, default=Category.KNOWLEDGE)
    confidence = models.FloatField(default=1.0)
    source = models.CharField(max_length=16, choices=Source.choices)
    scope = models.CharField(
        max_length=500, blank=True, help_text="Path fragment of the projects it reaches. Empty: all."
    )
    pinned = models.BooleanField(default=False)
    times_applied = models.PositiveIntegerField(default=0)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    conversation = models.ForeignKey(
        Conversation, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    valid_from = models.DateTimeField(
        default=timezone.now, help_text="Since when it stands in this wording. An earlier one is a tombstone."
    )
    superseded_by = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="supersedes"
    )

    objects = LiveManager.from_queryset(LessonQuerySet)()
    all_objects = LessonQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        base_manager_name = "all_objects"
        indexes = [
            # In the order of rank, so that the first lessons of a prompt are the first read. It holds all
            # that ranking and counting look at, the column of its own condition included: without it SQLite
            # reads every row.
            models.Index(
                F("home"),
                F("scope"),
                F("pinned").desc(),
                TAUGHT_FIRST,
                F("updated_at").desc(),
                F("id").desc(),
                F("is_deleted"),
                condition=Q(is_deleted=False),
                name="lessons_in_force",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["home", "key"], condition=Q(is_deleted=False), name="lessons_one_live_key"
            ),
            models.CheckConstraint(
                condition=Q(confidence__gte=0) & Q(confidence__lte=1), name="lessons_confidence_range"
            ),
        ]

    def __str__(self) -> str:
        return self.rule[:60]

    @property
    def rendered(self) -> str:
        """The line as a prompt shows it."""
        return f"{self.rule} — NOT: {self.negative}" if self.negative else self.rule

    @property
    def citation(self) -> str:
        return f"les:{self.pk}"

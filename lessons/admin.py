"""Lessons in admin: taught, edited, pinned, deleted and restored through services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from unfold.widgets import UnfoldAdminTextareaWidget

from crewsite.rows_admin import UndoableModelAdmin, admin_origin
from crewsite.security.text import number_of
from lessons.models import Lesson
from lessons.rules import draft_of
from lessons.services import lesson_delete, lesson_edit, lesson_pin, lesson_restore, lesson_write
from lessons.services.index import KIND
from memory.admin.base import ExplainedMixin, OwnWorkspacesMixin, ServiceSavedMixin, author_of

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from crewsite.security.origin import Origin

RULE_SHOWN_CHARS = 120
FIELDS = ["rule", "negative", "category", "scope", "pinned"]


class LessonForm(forms.ModelForm):  # type: ignore[type-arg]
    rule = forms.CharField(widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}), strip=False)
    negative = forms.CharField(
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        strip=False,
        required=False,
        help_text="What not to do instead.",
    )

    class Meta:
        model = Lesson
        fields = ["home", *FIELDS]

    def _post_clean(self) -> None:
        """The service checks the row and words the refusal; a form of its own rules would say them a second
        time.
        """


@admin.register(Lesson)
class LessonAdmin(OwnWorkspacesMixin, ExplainedMixin, ServiceSavedMixin, UndoableModelAdmin):
    form = LessonForm
    layer_name = KIND
    list_display = [
        "short_rule",
        "category",
        "scope",
        "pinned",
        "source",
        "home",
        "updated_at",
        "times_applied",
        "state",
    ]
    list_filter = ["is_deleted", "pinned", "category", "home", "source", "created_at", "deleted_reason"]
    list_select_related = ["home"]
    search_fields = ["rule", "negative", "scope"]
    date_hierarchy = "created_at"
    show_full_result_count = False
    actions = [*UndoableModelAdmin.actions, "pin_selected", "unpin_selected"]
    provenance = [
        "source",
        "confidence",
        "author",
        "conversation",
        "created_at",
        "updated_at",
        "valid_from",
        "superseded_by",
        "is_deleted",
        "deleted_at",
        "deleted_reason",
        "uid",
    ]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["home", *FIELDS, *(self.provenance if obj else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["home", *self.provenance] if obj else []

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A tombstone can be looked at and restored, not edited."""
        return bool(super().has_change_permission(request, obj)) and not (obj and obj.is_deleted)

    def text_to_embed(self, data: Any) -> str:
        texts = {"rule": data.get("rule", ""), "negative": data.get("negative", "")}
        return draft_of(**texts, category="", scope="", pinned=False).rendered

    def save_through_service(
        self, request: HttpRequest, obj: Any, form: Any, *, change: bool
    ) -> tuple[Any, str]:
        data = {name: form.cleaned_data[name] for name in FIELDS}
        data |= {"origin": admin_origin(request), "author": author_of(request)}
        if change:
            changed = lesson_edit(row=obj, **data)
            return changed.row, changed.message
        result = lesson_write(home=form.cleaned_data["home"], **data)
        if result.superseded:
            self.message_user(
                request,
                f"It takes the place of {number_of(len(result.superseded), 'lesson')}.",
                messages.WARNING,
            )
        return result.row, result.message

    def tombstone_row(self, row: Lesson, origin: Origin) -> str:
        lesson_delete(row=row, origin=origin)
        return ""

    def restore_row(self, row: Lesson, origin: Origin) -> str:
        result = lesson_restore(row=row, origin=origin)
        return result.message if result.outcome == "refused" else ""

    @admin.action(description="Pin: first in every prompt")
    def pin_selected(self, request: HttpRequest, queryset: QuerySet[Lesson]) -> None:
        self._pin(request, queryset, pinned=True)

    @admin.action(description="Unpin")
    def unpin_selected(self, request: HttpRequest, queryset: QuerySet[Lesson]) -> None:
        self._pin(request, queryset, pinned=False)

    def _pin(self, request: HttpRequest, queryset: QuerySet[Lesson], *, pinned: bool) -> None:
        for row in queryset.select_related("home"):
            result = lesson_pin(row=row, pinned=pinned, origin=admin_origin(request))
            if result.outcome == "refused":
                self.message_user(request, f"{row}: {result.message}", messages.WARNING)

    @admin.display(description="Rule", ordering="rule")
    def short_rule(self, row: Lesson) -> str:
        text = row.rendered
        return text if len(text) <= RULE_SHOWN_CHARS else f"{text[:RULE_SHOWN_CHARS]}…"

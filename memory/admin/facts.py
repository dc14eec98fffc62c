"""Facts in admin: editing writes a new value over the old one, which stays as a superseded row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from unfold.widgets import UnfoldAdminTextareaWidget

from crewsite.rows_admin import UndoableModelAdmin, admin_origin
from memory.admin.base import (
    ConfidenceFilter,
    ExplainedMixin,
    OwnWorkspacesMixin,
    ServiceSavedMixin,
    ValueField,
    author_of,
)
from memory.models import SemanticMemory
from memory.rules import parse_value
from memory.services import memory_restore, semantic_delete, semantic_write
from memory.services.semantic import KIND, index_text

if TYPE_CHECKING:
    from django.http import HttpRequest

    from crewsite.security.origin import Origin

VALUE_SHOWN_CHARS = 120


class FactForm(forms.ModelForm):  # type: ignore[type-arg]
    value = ValueField(widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}), help_text="Text, or JSON.")
    confidence = forms.FloatField(min_value=0, max_value=1, initial=1.0)

    class Meta:
        model = SemanticMemory
        fields = ["home", "key", "value", "confidence"]

    def _post_clean(self) -> None:
        """The service checks the row and words the refusal;
        a form of its own rules would say them a second time.
        """


@admin.register(SemanticMemory)
class SemanticMemoryAdmin(OwnWorkspacesMixin, ExplainedMixin, ServiceSavedMixin, UndoableModelAdmin):
    form = FactForm
    layer_name = KIND
    list_display = [
        "key",
        "short_value",
        "confidence",
        "source",
        "home",
        "valid_from",
        "state",
    ]
    list_filter = ["is_deleted", "home", "source", ConfidenceFilter, "valid_from"]
    list_select_related = ["home"]
    search_fields = ["key", "value"]
    date_hierarchy = "valid_from"
    show_full_result_count = False
    provenance = [
        "source",
        "author",
        "conversation",
        "valid_from",
        "created_at",
        "updated_at",
        "superseded_by",
        "is_deleted",
        "deleted_at",
        "deleted_reason",
        "uid",
    ]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["home", "key", "value", "confidence", *(self.provenance if obj else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["home", "key", *self.provenance] if obj else []

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A tombstone can be looked at and restored, not edited."""
        return bool(super().has_change_permission(request, obj)) and not (obj and obj.is_deleted)

    def text_to_embed(self, data: Any) -> str:
        key, value = str(data.get("key", "")), data.get("value", "")
        return index_text(key, parse_value(value)) if key else ""

    def save_through_service(
        self, request: HttpRequest, obj: Any, form: Any, *, change: bool
    ) -> tuple[Any, str]:
        data = form.cleaned_data
        result = semantic_write(
            home=obj.home if change else data["home"],
            key=obj.key if change else data["key"],
            value=data["value"],
            confidence=data["confidence"],
            origin=admin_origin(request),
            author=author_of(request),
        )
        return result.row, result.message if result.outcome == "refused" else ""

    def tombstone_row(self, row: Any, origin: Origin) -> str:
        semantic_delete(row=row, origin=origin)
        return ""

    def restore_row(self, row: Any, origin: Origin) -> str:
        result = memory_restore(row=row, origin=origin)
        return result.message if result.outcome == "refused" else ""

    @admin.display(description="Value")
    def short_value(self, row: SemanticMemory) -> str:
        text = row.value if isinstance(row.value, str) else json.dumps(row.value, ensure_ascii=False)
        return text[:VALUE_SHOWN_CHARS]

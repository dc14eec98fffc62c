"""Episodes in admin: corrected, deleted and restored through services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from unfold.widgets import UnfoldAdminTextareaWidget

from crewsite.rows_admin import UndoableModelAdmin, admin_origin
from crewsite.security.text import clean
from memory.admin.base import ExplainedMixin, OwnWorkspacesMixin, ServiceSavedMixin, author_of
from memory.constants import DEFAULT_IMPORTANCE
from memory.models import EpisodicMemory
from memory.services import episodic_delete, episodic_edit, episodic_write, memory_restore
from memory.services.twins import KIND

if TYPE_CHECKING:
    from django.http import HttpRequest

    from crewsite.security.origin import Origin

TEXT_SHOWN_CHARS = 120


class TagsField(forms.CharField):
    """Tags separated by commas."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [part.strip() for part in str(value or "").split(",") if part.strip()]


class EpisodeForm(forms.ModelForm):  # type: ignore[type-arg]
    text = forms.CharField(widget=UnfoldAdminTextareaWidget(attrs={"rows": 6}), strip=False)
    importance = forms.FloatField(min_value=0, max_value=1, initial=DEFAULT_IMPORTANCE)
    tags = TagsField(required=False, help_text="Separated by commas; small letters, digits, - and _.")

    class Meta:
        model = EpisodicMemory
        fields = ["home", "text", "importance", "tags"]

    def _post_clean(self) -> None:
        """The service checks the row and words the refusal;
        a form of its own rules would say them a second time.
        """


@admin.register(EpisodicMemory)
class EpisodicMemoryAdmin(OwnWorkspacesMixin, ExplainedMixin, ServiceSavedMixin, UndoableModelAdmin):
    form = EpisodeForm
    layer_name = KIND
    list_display = [
        "short_text",
        "importance",
        "source",
        "home",
        "times_seen",
        "created_at",
        "state",
    ]
    list_filter = ["is_deleted", "home", "source", "created_at", "deleted_reason"]
    list_select_related = ["home"]
    search_fields = ["text"]
    date_hierarchy = "created_at"
    show_full_result_count = False
    provenance = [
        "source",
        "author",
        "conversation",
        "created_at",
        "updated_at",
        "confirmed_at",
        "times_seen",
        "last_accessed_at",
        "access_count",
        "possibly_supersedes",
        "is_deleted",
        "deleted_at",
        "deleted_reason",
        "uid",
    ]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["home", "text", "importance", "tags", *(self.provenance if obj else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["home", *self.provenance] if obj else []

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A tombstone can be looked at and restored, not edited."""
        return bool(super().has_change_permission(request, obj)) and not (obj and obj.is_deleted)

    def text_to_embed(self, data: Any) -> str:
        return clean(str(data.get("text", ""))).strip()

    def save_through_service(
        self, request: HttpRequest, obj: Any, form: Any, *, change: bool
    ) -> tuple[Any, str]:
        data, origin = form.cleaned_data, admin_origin(request)
        fields = {"text": data["text"], "importance": data["importance"], "tags": data["tags"]}
        if change:
            edit = episodic_edit(row=obj, origin=origin, **fields)
            return edit.row, edit.message if edit.outcome == "refused" else ""
        result = episodic_write(home=data["home"], origin=origin, author=author_of(request), **fields)
        return result.row, "" if result.outcome == "stored" else result.message

    def tombstone_row(self, row: Any, origin: Origin) -> str:
        episodic_delete(row=row, origin=origin)
        return ""

    def restore_row(self, row: Any, origin: Origin) -> str:
        result = memory_restore(row=row, origin=origin)
        return result.message if result.outcome == "refused" else ""

    @admin.display(description="Text")
    def short_text(self, row: EpisodicMemory) -> str:
        return row.text[:TEXT_SHOWN_CHARS]

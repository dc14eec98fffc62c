"""Preferences and projects in admin:
editing makes a version, old versions show what changed and can be restored.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminTextareaWidget

from crewsite.rows_admin import admin_origin
from memory.admin.base import OwnWorkspacesMixin, ServiceSavedMixin, author_of, events_of, folded
from memory.models import PreferencesDocument, ProjectsDocument, VersionedDocument
from memory.services import document_replace, document_restore
from memory.services.documents import LAYERS

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest


class DocumentForm(forms.ModelForm):  # type: ignore[type-arg]
    text = forms.CharField(widget=UnfoldAdminTextareaWidget(attrs={"rows": 24}), required=False, strip=False)

    class Meta:
        fields = ["workspace", "text"]

    def _post_clean(self) -> None:
        """The service checks and numbers the version; the form's row is never saved."""


class DocumentAdmin(OwnWorkspacesMixin, ServiceSavedMixin, ModelAdmin):
    form = DocumentForm
    workspace_field = "workspace"
    list_display = ["__str__", "workspace", "version", "source", "author", "created_at", "replaced_at"]
    list_filter = [("replaced_at", admin.EmptyFieldListFilter), "workspace", "source", "created_at"]
    list_select_related = ["workspace", "author"]
    search_fields = ["text"]
    date_hierarchy = "created_at"
    actions = ["restore_version"]
    provenance = [
        "version",
        "source",
        "author",
        "conversation",
        "created_at",
        "replaced_at",
        "changes",
        "uid",
        "events",
    ]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["workspace", "text", *(self.provenance if obj else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["workspace", *self.provenance] if obj else []

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only the version in force can be edited; older ones are restored."""
        return bool(super().has_change_permission(request, obj)) and not (obj and obj.replaced_at)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_through_service(
        self, request: HttpRequest, obj: Any, form: Any, *, change: bool
    ) -> tuple[Any, str]:
        result = document_replace(
            model=self.model,
            workspace=obj.workspace if change else form.cleaned_data["workspace"],
            text=form.cleaned_data["text"],
            origin=admin_origin(request),
            author=author_of(request),
        )
        return result.row, result.message

    @admin.action(description="Restore this version")
    def restore_version(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset.select_related("workspace").order_by("pk"):
            result = document_restore(row=row, origin=admin_origin(request), author=author_of(request))
            if result.outcome == "refused" or result.row is None:
                self.message_user(request, f"{row}: {result.message}", messages.WARNING)
            else:
                done = f"{row} is in force as version {result.row.version}."
                self.message_user(request, done, messages.SUCCESS)

    @admin.display(description="Changes to the version before")
    def changes(self, row: VersionedDocument) -> str:
        before = self.model.objects.filter(workspace=row.workspace_id, version=row.version - 1).first()
        old = before.text.splitlines() if before else []
        diff = difflib.unified_diff(old, row.text.splitlines(), lineterm="", n=1)
        lines = [line for line in diff if not line.startswith(("---", "+++"))]
        return folded("\n".join(lines), summary=f"{len(lines)} lines")

    @admin.display(description="Events")
    def events(self, row: VersionedDocument) -> str:
        return events_of(row, LAYERS[self.model])


admin.site.register(PreferencesDocument, DocumentAdmin)
admin.site.register(ProjectsDocument, DocumentAdmin)

"""Preferences and projects in admin: editing makes a version, and each version shows what it changed against
any other and comes back with one click.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseRedirect
from django.urls import path, reverse
from django.views.decorators.http import require_POST
from unfold.widgets import UnfoldAdminTextareaWidget

from crewsite.accounts.console import row_number
from crewsite.rows_admin import SiteModelAdmin, admin_origin
from memory.admin.base import ExplainedMixin, OwnWorkspacesMixin, ServiceSavedMixin, author_of
from memory.constants import VERSIONS_LISTED
from memory.documents import line_diff
from memory.models import PreferencesDocument, ProjectsDocument
from memory.services import document_replace, document_restore
from memory.services.documents import LAYERS

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern

    from memory.models import VersionedDocument


class DocumentForm(forms.ModelForm):  # type: ignore[type-arg]
    text = forms.CharField(widget=UnfoldAdminTextareaWidget(attrs={"rows": 24}), required=False, strip=False)

    class Meta:
        fields = ["workspace", "text"]

    def _post_clean(self) -> None:
        """The service checks and numbers the version; the form's row is never saved."""


class DocumentAdmin(OwnWorkspacesMixin, ExplainedMixin, ServiceSavedMixin, SiteModelAdmin):
    form = DocumentForm
    workspace_field = "workspace"
    list_display = ["__str__", "workspace", "version", "source", "author", "created_at", "replaced_at"]
    list_filter = [("replaced_at", admin.EmptyFieldListFilter), "workspace", "source", "created_at"]
    list_select_related = ["workspace", "author"]
    search_fields = ["text"]
    date_hierarchy = "created_at"
    actions = ["restore_version"]
    change_form_outer_after_template = "admin/memory/document.html"
    provenance = ["version", "source", "author", "conversation", "created_at", "replaced_at", "uid"]

    @property
    def layer_name(self) -> str:  # type: ignore[override]
        return LAYERS[self.model]

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

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        context = {**(extra_context or {}), "versions": partial(self._versions, request, object_id)}
        return super().change_view(request, object_id, form_url, context)

    def _versions(self, request: HttpRequest, object_id: str) -> dict[str, Any] | None:
        """The versions of this workspace, newest first, and what this one says against the one before, or
        against the one that `?against=` names.
        """
        row = self.get_object(request, unquote(object_id))
        if row is None:
            return None
        all_versions = self.model.objects.filter(workspace=row.workspace_id)
        number = row_number(request.GET.get("against", ""))
        other = all_versions.filter(version=row.version - 1 if number is None else number).first()
        return {
            "rows": all_versions.select_related("author").order_by("-version")[:VERSIONS_LISTED],
            "count": all_versions.count(),
            "other": other,
            "diff": line_diff(other.text if other else "", row.text),
            "may_restore": self.has_change_permission(request),
        }

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_restore"
        view = self.admin_site.admin_view(require_POST(self._restore_view))
        return [path("<path:object_id>/restore/", view, name=name), *super().get_urls()]

    def _restore_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        if not self.has_change_permission(request):
            raise PermissionDenied
        live = self._restore(request, row)
        page = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        return HttpResponseRedirect(reverse(page, args=[live.pk]))

    @admin.action(description="Restore this version")
    def restore_version(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset.select_related("workspace").order_by("pk"):
            self._restore(request, row)

    def _restore(self, request: HttpRequest, row: VersionedDocument) -> VersionedDocument:
        """The version that is in force afterwards; the person is told what happened."""
        result = document_restore(row=row, origin=admin_origin(request), author=author_of(request))
        live = result.row or row
        if result.outcome == "refused":
            self.message_user(request, f"{row}: {result.message}", messages.WARNING)
        elif result.outcome == "unchanged":
            said = f"Version {live.version} is in force already and says just this; nothing was changed."
            self.message_user(request, said, messages.INFO)
        else:
            done = f"Version {row.version} is in force again, as version {live.version}."
            self.message_user(request, done, messages.SUCCESS)
        return live


admin.site.register(PreferencesDocument, DocumentAdmin)
admin.site.register(ProjectsDocument, DocumentAdmin)

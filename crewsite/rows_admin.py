"""Admin bases every app shares: read-only pages for derived and audit rows, and undoable pages for
tombstonable rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.utils.html import format_html
from unfold.admin import ModelAdmin
from unfold.decorators import display

from crewsite.security.origin import Origin, Source, Surface

if TYPE_CHECKING:
    from django.db import models
    from django.http import HttpRequest


def admin_origin(request: HttpRequest) -> Origin:
    """A change made in admin is explicit and carries the operator's name."""
    return Origin(source=Source.USER_EXPLICIT, surface=Surface.ADMIN, actor=request.user.get_username())


def pretty_json(value: Any) -> str:
    """A JSON value as readable, escaped, preformatted text."""
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False, default=str))


class ReadOnlyModelAdmin(ModelAdmin):
    """Nobody adds, changes or deletes these rows by hand, superusers included."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


class OperatorOnlyMixin:
    """Pages of rows of every workspace at once: for superusers, whatever other rights staff are given."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return request.user.is_superuser and bool(super().has_view_permission(request, obj))  # type: ignore[misc]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser and bool(super().has_add_permission(request))  # type: ignore[misc]

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return request.user.is_superuser and bool(super().has_change_permission(request, obj))  # type: ignore[misc]

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return request.user.is_superuser and bool(super().has_delete_permission(request, obj))  # type: ignore[misc]


class UndoableModelAdmin(ModelAdmin):
    """Lists live and tombstoned rows; deleting means tombstoning, and both ways go through the app's
    services.

    Subclasses implement `tombstone_row` and `restore_row`; each returns an empty text on success, else
    the refusal.
    """

    actions = ["tombstone_selected", "restore_selected"]

    @display(description="State", ordering="is_deleted", label={"in use": "success", "deleted": "danger"})
    def state(self, row: Any) -> tuple[str, str]:
        if not row.is_deleted:
            return "in use", "in use"
        return "deleted", f"deleted: {row.deleted_reason}" if row.deleted_reason else "deleted"

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        return self.model.all_objects.all()  # type: ignore[no-any-return]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions: dict[str, Any] = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def tombstone_row(self, row: Any, origin: Origin) -> str:
        raise NotImplementedError

    def restore_row(self, row: Any, origin: Origin) -> str:
        raise NotImplementedError

    @admin.action(description="Delete (can be restored)")
    def tombstone_selected(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        self._each(request, queryset.filter(is_deleted=False), self.tombstone_row, "deleted")

    @admin.action(description="Restore")
    def restore_selected(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        self._each(request, queryset.filter(is_deleted=True), self.restore_row, "restored")

    def _each(self, request: HttpRequest, queryset: models.QuerySet[Any], act: Any, word: str) -> None:
        done = 0
        for row in queryset:
            refusal = act(row, admin_origin(request))
            if refusal:
                self.message_user(request, f"{row}: {refusal}", messages.WARNING)
            else:
                done += 1
        self.message_user(request, f"{done} {word}.", messages.SUCCESS)

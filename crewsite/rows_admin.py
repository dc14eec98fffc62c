"""Admin bases every app shares: lists that survive any address, read-only pages for derived and audit rows,
and undoable pages for tombstonable rows."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import unquote
from django.core.exceptions import EmptyResultSet, PermissionDenied
from django.http import Http404, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.views import ChangeList

from crewsite.admin_dates import hasten_date_links
from crewsite.security.origin import Origin, Source, Surface

if TYPE_CHECKING:
    from django.db import models
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern


# Most of a list's time is its rows' templates: half of Django's 100 take 0.52 to 0.74 of the CPU time
# (docs/benchmarks.md), towards the 300 ms of chapter 06, 6.7.
ROWS_A_PAGE: Final = 50


def admin_origin(request: HttpRequest) -> Origin:
    """A change made in admin is explicit and carries the operator's name."""
    return Origin(source=Source.USER_EXPLICIT, surface=Surface.ADMIN, actor=request.user.get_username())


def pretty_json(value: Any) -> str:
    """A JSON value as readable, escaped, preformatted text."""
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False, default=str))


class SiteChangeList(ChangeList):
    """Values no calendar has (`created_at__year=99999`) are found only when the query becomes SQL, past the
    point where Django turns bad parameters away; here the list answers them like any other it cannot read.
    """

    def get_queryset(self, *args: Any, **kwargs: Any) -> models.QuerySet[Any]:
        try:
            rows: models.QuerySet[Any] = super().get_queryset(*args, **kwargs)
            rows.query.sql_with_params()
        except EmptyResultSet:
            return rows
        except (ValueError, OverflowError) as error:
            raise IncorrectLookupParameters(error) from error
        hasten_date_links(rows)
        return rows


class SiteModelAdmin(ModelAdmin):
    """What every page of the site's admin shares."""

    list_per_page = ROWS_A_PAGE

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return SiteChangeList


class ReadOnlyModelAdmin(SiteModelAdmin):
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


class UndoableModelAdmin(SiteModelAdmin):
    """Lists live and tombstoned rows; deleting means tombstoning, and both ways go through the app's
    services, from the list and from the row's page.

    Subclasses implement `tombstone_row` and `restore_row`; each returns an empty text on success, else
    the refusal.
    """

    actions = ["tombstone_selected", "restore_selected"]
    change_form_outer_before_template = "admin/row_buttons.html"

    @display(description="State", ordering="is_deleted", label={"deleted": "danger"})
    def state(self, row: Any) -> tuple[str, str] | str:
        """Only what is not in use is marked."""
        if not row.is_deleted:
            return ""
        why = row.deleted_reason
        return "deleted", "deleted" if why in {"", "deleted"} else f"deleted: {why.replace('_', ' ')}"

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

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        context["may_undo"] = self.has_change_permission(request)
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    def get_urls(self) -> list[URLPattern]:
        urls: list[URLPattern] = super().get_urls()
        for name in ("tombstone", "restore"):
            view = self.admin_site.admin_view(require_POST(partial(self._act_on_one, name)))
            urls.insert(0, path(f"<path:object_id>/{name}/", view, name=self._page(name)))
        return urls

    def _page(self, name: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{name}"

    def _act_on_one(self, name: str, request: HttpRequest, object_id: str) -> HttpResponse:
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        if not self.has_change_permission(request):
            raise PermissionDenied
        chosen = self.model.all_objects.filter(pk=row.pk)
        if name == "tombstone":
            self.tombstone_selected(request, chosen)
        else:
            self.restore_selected(request, chosen)
        return HttpResponseRedirect(reverse(f"admin:{self._page('change')}", args=[row.pk]))

    @admin.action(description="Delete (can be restored)")
    def tombstone_selected(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        self._each(request, queryset.filter(is_deleted=False), self.tombstone_row, "deleted")

    @admin.action(description="Restore")
    def restore_selected(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        self._each(request, queryset.filter(is_deleted=True), self.restore_row, "restored")

    def _each(self, request: HttpRequest, queryset: models.QuerySet[Any], act: Any, word: str) -> None:
        rows, done = list(queryset), 0
        for row in rows:
            refusal = act(row, admin_origin(request))
            if refusal:
                self.message_user(request, f"{row}: {refusal}", messages.WARNING)
            else:
                done += 1
        if done:
            self.message_user(request, f"{done} {word}.", messages.SUCCESS)
        elif not rows:
            self.message_user(request, f"Nothing to do: {word} already.", messages.INFO)

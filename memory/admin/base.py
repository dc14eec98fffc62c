"""What the admin pages of memory share:
only the viewer's workspaces, saving through services, and the story of a row.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.http import HttpResponseRedirect
from django.urls import reverse

from crewsite.accounts.models import User, Workspace
from crewsite.embeddings.service import embed_document
from memory.explain import memory_explain
from memory.layers import layer_of
from memory.rules import parse_value

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

    from memory.explain import Explanation
    from memory.layers import MemoryLayer


class OwnWorkspacesMixin:
    """Staff see the workspaces they belong to; operators see all. `workspace_field` names the column."""

    workspace_field = "home"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)  # type: ignore[misc]
        user = request.user
        if user.is_superuser:
            return rows
        return rows.filter(**{f"{self.workspace_field}__in": Workspace.objects.for_user(user)})

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == self.workspace_field:
            kwargs["queryset"] = Workspace.objects.for_user(request.user)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)  # type: ignore[misc]


class ServiceSavedMixin:
    """A form that a service saves. `save_through_service` answers (row in force, refusal); a refusal is
    shown, not saved.

    The refusal is kept on the object, because the page's transaction must commit:
    it holds the refusal's audit event.
    """

    def save_through_service(
        self, request: HttpRequest, obj: Any, form: Any, *, change: bool
    ) -> tuple[Any, str]:
        raise NotImplementedError

    def text_to_embed(self, data: Any) -> str:
        """The text the service will embed, from the posted form; empty: none."""
        return ""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "POST":
            # Django opens a transaction around the form;
            # embedding first fills the cache, so that no lock waits for it.
            text = self.text_to_embed(request.POST)
            if text:
                embed_document(text)
        return super().changeform_view(request, *args, **kwargs)  # type: ignore[misc,no-any-return]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001
        row, refusal = self.save_through_service(request, obj, form, change=change)
        if not refusal and row is not None:
            # The page goes on with the row that is in force now, which a service may have made anew.
            obj.__dict__.update(row.__dict__)
        obj._refusal = refusal

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None if obj._refusal else super().log_addition(request, obj, message)  # type: ignore[misc]

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None if obj._refusal else super().log_change(request, obj, message)  # type: ignore[misc]

    def response_add(self, request: HttpRequest, obj: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        return self._refused(request, obj) or super().response_add(request, obj, *args, **kwargs)  # type: ignore[misc]

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        refused = self._refused(request, obj)
        if refused is not None:
            return refused
        response: HttpResponse = super().response_change(request, obj)  # type: ignore[misc]
        if "_continue" in request.POST:
            # A service may have made the row in force anew; editing goes on there.
            meta = obj._meta
            page = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[obj.pk])
            return HttpResponseRedirect(page)
        return response

    def _refused(self, request: HttpRequest, obj: Any) -> HttpResponse | None:
        if not obj._refusal:
            return None
        messages.error(request, f"Not saved: {obj._refusal}")
        return HttpResponseRedirect(request.get_full_path())


class ExplainedMixin:
    """Shows under the form where the row came from, what stands before and after it, and the prompts it was
    put into. `layer_name` names the layer.
    """

    layer_name = ""
    change_form_outer_after_template = "admin/memory/explanation.html"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        told = partial(self._explanation, request, object_id)
        context = {**(extra_context or {}), "explanation": told}
        return super().change_view(request, object_id, form_url, context)  # type: ignore[misc,no-any-return]

    def _explanation(self, request: HttpRequest, object_id: str) -> Explanation | None:
        row = self.get_object(request, unquote(object_id))  # type: ignore[attr-defined]
        layer = layer_of(self.layer_name)
        return None if row is None or layer is None else explain_for(request, layer, row)


def explain_for(request: HttpRequest, layer: MemoryLayer, row: Any) -> Explanation:
    return memory_explain(layer=layer, row=row, viewer=author_of(request))


class ConfidenceFilter(admin.SimpleListFilter):
    title = "confidence"
    parameter_name = "confidence"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("sure", "1.0"), ("high", "0.9 to 1.0"), ("gate", "0.8 to 0.9"), ("low", "under 0.8")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        bounds = {"sure": (1.0, 1.1), "high": (0.9, 1.0), "gate": (0.8, 0.9), "low": (0.0, 0.8)}
        chosen = bounds.get(self.value() or "")
        return queryset.filter(confidence__gte=chosen[0], confidence__lt=chosen[1]) if chosen else queryset


class ValueField(forms.JSONField):
    """A JSON value typed by a person: what is no JSON is text, so that nobody has to type the quotes."""

    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return None
        return parse_value(value)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str) and parse_value(value) == value:
            return value
        return json.dumps(value, ensure_ascii=False, indent=2)

    def bound_data(self, data: Any, initial: Any) -> Any:
        return None if data is None else parse_value(data)


def author_of(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None

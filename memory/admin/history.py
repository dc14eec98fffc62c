"""History entries in admin: read-only, because the layer is append-only. Days and times are those of the
entry's workspace.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Q
from django.utils import timezone

from crewsite.accounts.zones import zone_named
from crewsite.rows_admin import ReadOnlyModelAdmin
from memory.admin.base import ExplainedMixin, OwnWorkspacesMixin
from memory.history import history_ages
from memory.models import HistoryEntry

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest


class AgeFilter(admin.SimpleListFilter):
    """What a prompt shows of an entry today, by its age in local days of its own workspace."""

    title = "shown in prompts"
    parameter_name = "age"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(age.name, age.label) for age in history_ages()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        age = next((age for age in history_ages() if age.name == self.value()), None)
        if age is None:
            return queryset
        chosen, now = Q(pk__in=[]), timezone.now()
        for name in queryset.order_by().values_list("workspace__time_zone", flat=True).distinct():
            today = now.astimezone(zone_named(name)).date()
            within = Q(day__lte=today - dt.timedelta(days=age.from_days)) if age.from_days else Q()
            if age.until_days is not None:
                within &= Q(day__gt=today - dt.timedelta(days=age.until_days))
            chosen |= Q(workspace__time_zone=name) & within
        return queryset.filter(chosen)


@admin.register(HistoryEntry)
class HistoryEntryAdmin(OwnWorkspacesMixin, ExplainedMixin, ReadOnlyModelAdmin):
    workspace_field = "workspace"
    layer_name = "history"
    list_display = ["day", "local_time", "title", "workspace", "conversation"]
    list_filter = [AgeFilter, "workspace", "created_at"]
    list_select_related = ["workspace", "conversation"]
    search_fields = ["title", "text"]
    date_hierarchy = "day"
    show_full_result_count = False
    fields = ["workspace", "day", "local_time", "title", "text", "conversation", "created_at", "uid"]
    readonly_fields = fields

    @admin.display(description="Time", ordering="time")
    def local_time(self, row: HistoryEntry) -> str:
        return f"{row.time:%H:%M} {row.workspace.time_zone}"

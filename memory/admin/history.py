"""History entries in admin: read-only, because the layer is append-only."""

from __future__ import annotations

from django.contrib import admin

from crewsite.rows_admin import ReadOnlyModelAdmin
from memory.admin.base import OwnWorkspacesMixin
from memory.models import HistoryEntry


@admin.register(HistoryEntry)
class HistoryEntryAdmin(OwnWorkspacesMixin, ReadOnlyModelAdmin):
    workspace_field = "workspace"
    list_display = ["day", "time", "title", "workspace", "conversation"]
    list_filter = ["workspace", "day"]
    list_select_related = ["workspace", "conversation"]
    search_fields = ["title", "text"]
    date_hierarchy = "day"
    show_full_result_count = False

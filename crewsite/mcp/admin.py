"""The ledger of tool calls, read-only: a record of what happened."""

from __future__ import annotations

from django.contrib import admin

from crewsite.mcp.models import ToolCall
from crewsite.rows_admin import OperatorOnlyMixin, ReadOnlyModelAdmin


@admin.register(ToolCall)
class ToolCallAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = [
        "at",
        "tool",
        "outcome",
        "user",
        "workspace",
        "token_name",
        "client",
        "duration_ms",
        "chars",
    ]
    list_filter = ["outcome", "transport", "tool", "workspace"]
    list_select_related = ["user", "workspace"]
    search_fields = ["tool", "token_name", "client", "note", "user__username"]
    date_hierarchy = "at"
    exclude = ["token"]  # its key is the hash of a secret

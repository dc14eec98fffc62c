"""The audit trail in admin: read by operators, changed by no one. Others see a row's events on its page."""

from __future__ import annotations

import json

from django.contrib import admin
from django.utils.html import format_html

from crewsite.rows_admin import OperatorOnlyMixin, ReadOnlyModelAdmin, pretty_json
from crewsite.security.models import MemoryEvent


@admin.register(MemoryEvent)
class MemoryEventAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = [
        "at",
        "event",
        "memory_type",
        "object_id",
        "home_id",
        "reason",
        "source",
        "surface",
        "actor",
    ]
    list_filter = ["event", "memory_type", "source", "surface"]
    search_fields = ["old_value", "new_value", "reason", "actor", "=object_id", "=home_id"]
    date_hierarchy = "at"
    ordering = ["-id"]
    # An exact count of a full ring of every home costs more than the page itself.
    show_full_result_count = False
    fields = [
        "at",
        "event",
        "memory_type",
        "object_id",
        "home_id",
        "old",
        "new",
        "reason",
        "source",
        "actor",
        "surface",
        "conversation_id",
    ]
    readonly_fields = fields

    @admin.display(description="Old value")
    def old(self, row: MemoryEvent) -> str:
        return _shown(row.old_value)

    @admin.display(description="New value")
    def new(self, row: MemoryEvent) -> str:
        return _shown(row.new_value)


def _shown(value: str) -> str:
    """JSON indented, anything else as it stands; escaped either way."""
    if not value:
        return "-"
    try:
        return pretty_json(json.loads(value))
    except ValueError:
        return format_html("<pre>{}</pre>", value)

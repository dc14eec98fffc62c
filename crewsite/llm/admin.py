"""Connections and use of models in admin, read-only: connections are made on the page Models, where they can
be tried."""

from __future__ import annotations

from django.contrib import admin

from crewsite.llm.models import Connection, ModelUsage
from crewsite.rows_admin import OperatorOnlyMixin, ReadOnlyModelAdmin


@admin.register(Connection)
class ConnectionAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["name", "provider", "model", "base_url", "key_set_at", "updated_at"]
    list_filter = ["provider"]
    search_fields = ["name", "model", "base_url"]
    exclude = ["api_key"]


@admin.register(ModelUsage)
class ModelUsageAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = [
        "day",
        "model",
        "purpose",
        "calls",
        "failures",
        "input_tokens",
        "output_tokens",
        "seconds",
        "cost_usd",
    ]
    list_filter = ["purpose", "day"]
    search_fields = ["model"]
    date_hierarchy = "day"

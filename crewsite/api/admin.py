"""Kept answers, read-only and without their bodies: they repeat rows that have pages of their own."""

from __future__ import annotations

from django.contrib import admin

from crewsite.api.models import KeptAnswer
from crewsite.rows_admin import OperatorOnlyMixin, ReadOnlyModelAdmin


@admin.register(KeptAnswer)
class KeptAnswerAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["created_at", "operation", "key", "user", "status"]
    fields = list_display
    list_select_related = ["user"]
    search_fields = ["key", "operation", "user__username"]
    date_hierarchy = "created_at"

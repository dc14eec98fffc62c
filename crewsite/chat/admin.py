"""Admin pages of turns and of the memory rows that went into them. Read-only: both are records of what
happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from unfold.admin import TabularInline

from crewsite.chat.models import Turn, TurnInjection
from crewsite.rows_admin import OperatorOnlyMixin, ReadOnlyModelAdmin, pretty_json

if TYPE_CHECKING:
    from django.http import HttpRequest


class InjectionInline(TabularInline):
    model = TurnInjection
    fields = ["rank", "kind", "object_id", "score"]
    readonly_fields = fields
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Turn | None = None) -> bool:
        return False


@admin.register(Turn)
class TurnAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["created_at", "conversation", "state", "model", "error", "started_at", "finished_at"]
    list_filter = ["state", "model"]
    list_select_related = ["conversation"]
    search_fields = ["id", "client_key", "error", "conversation__title"]
    date_hierarchy = "created_at"
    fields = [
        "conversation",
        "user_message",
        "assistant_message",
        "state",
        "error",
        "retryable",
        "model",
        "client_key",
        "runner",
        "created_at",
        "started_at",
        "first_token_at",
        "finished_at",
        "shown_packet",
    ]
    readonly_fields = ["shown_packet"]
    inlines = [InjectionInline]

    @admin.display(description="Context packet")
    def shown_packet(self, turn: Turn) -> str:
        return pretty_json(turn.packet)


@admin.register(TurnInjection)
class TurnInjectionAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["turn", "rank", "kind", "object_id", "score"]
    list_filter = ["kind"]
    search_fields = ["=object_id", "turn__id"]
    list_select_related = ["turn"]

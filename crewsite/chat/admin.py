"""Admin pages of turns, of the memory rows that went into them, and of what their tools asked. Read-only: all
are records of what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from unfold.admin import TabularInline

from crewsite.chat.models import ToolQuestion, Turn, TurnInjection
from crewsite.rows_admin import OperatorOnlyMixin, ReadOnlyModelAdmin, pretty_json

if TYPE_CHECKING:
    from django.http import HttpRequest


class ReadOnlyInline(TabularInline):
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Turn | None = None) -> bool:
        return False


class InjectionInline(ReadOnlyInline):
    model = TurnInjection
    fields = ["rank", "kind", "object_id", "score"]
    readonly_fields = fields


class QuestionInline(ReadOnlyInline):
    model = ToolQuestion
    fields = ["call_id", "choices", "choice", "is_open", "asked_at", "answered_at"]
    readonly_fields = fields


@admin.register(Turn)
class TurnAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["created_at", "conversation", "state", "model", "error", "started_at", "finished_at"]
    list_filter = ["state", "model"]
    list_select_related = ["conversation"]
    ordering = ["-created_at"]
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
    inlines = [QuestionInline, InjectionInline]

    @admin.display(description="Context packet")
    def shown_packet(self, turn: Turn) -> str:
        return pretty_json(turn.packet)


@admin.register(TurnInjection)
class TurnInjectionAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["turn", "rank", "kind", "object_id", "score"]
    list_filter = ["kind"]
    search_fields = ["=object_id", "turn__id"]
    list_select_related = ["turn"]

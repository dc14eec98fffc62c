"""Receipts in admin, read-only, and consolidation on a conversation's pages: its receipts, and running a pass
now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.utils.html import format_html, format_html_join
from unfold.admin import TabularInline
from unfold.decorators import display

from crewsite.conversations.admin import ConversationAdmin
from crewsite.conversations.models import Conversation
from crewsite.llm.targets import model_name
from crewsite.rows_admin import ReadOnlyModelAdmin
from memory.admin.base import OwnWorkspacesMixin
from memory.consolidation.triggers import ASKED, pass_queue
from memory.models import ConsolidationReceipt

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

HASH_GROUP = 16
STATE_COLOURS = {"done": "success", "failed": "danger"}


@admin.register(ConsolidationReceipt)
class ConsolidationReceiptAdmin(OwnWorkspacesMixin, ReadOnlyModelAdmin):
    workspace_field = "workspace"
    list_display = ["__str__", "coloured_state", "conversation", "outcome", "model", "updated_at"]
    list_filter = ["state", "path", "workspace", "updated_at"]
    list_select_related = ["conversation"]
    search_fields = ["conversation__title", "conversation__id", "reason", "model"]
    date_hierarchy = "updated_at"
    fields = [
        "conversation",
        "workspace",
        "path",
        "coloured_state",
        "range",
        "outcome",
        "refused_entries",
        "written_rows",
        "reason",
        "tries",
        "deferred",
        "retry_at",
        "model",
        "prompt_version",
        "hash_of_prompt",
        "token_usage",
        "hash_of_range",
        "created_at",
        "updated_at",
    ]
    readonly_fields = fields

    @display(description="State", ordering="state", label=STATE_COLOURS)
    def coloured_state(self, row: ConsolidationReceipt) -> str:
        return row.state

    @admin.display(description="Messages")
    def range(self, row: ConsolidationReceipt) -> str:
        cut = f", {row.messages_cut} of them left out" if row.messages_cut else ""
        return f"{row.first_seq} to {row.last_seq}: {row.messages} read{cut}"

    @admin.display(description="Outcome")
    def outcome(self, row: ConsolidationReceipt) -> str:
        if row.state == ConsolidationReceipt.State.FAILED:
            return row.reason
        parts = [
            f"{layer}: " + ", ".join(f"{count} {what}" for what, count in outcomes.items())
            for layer, outcomes in row.counts.items()
        ]
        return "; ".join(parts) or "nothing worth keeping"

    @admin.display(description="Refused")
    def refused_entries(self, row: ConsolidationReceipt) -> str:
        if not row.refused:
            return "-"
        lines = ((e["layer"], e["code"], e["message"], e["text"]) for e in row.refused)
        return format_html("<ul>{}</ul>", format_html_join("", "<li>{}, {}: {} “{}”</li>", lines))

    @admin.display(description="Rows written")
    def written_rows(self, row: ConsolidationReceipt) -> str:
        return ", ".join(f"{entry['kind']} {entry['id']}" for entry in row.written) or "-"

    @admin.display(description="Tokens")
    def token_usage(self, row: ConsolidationReceipt) -> str:
        counts = row.usage
        if not counts:
            return "-"
        read, written = counts.get("input_tokens", 0), counts.get("output_tokens", 0)
        return f"{read:,} read, {written:,} written, in {counts.get('requests', 0)} requests"

    @admin.display(description="Hash of the prompt's files")
    def hash_of_prompt(self, row: ConsolidationReceipt) -> str:
        return _in_groups(row.prompt_hash)

    @admin.display(description="Hash of the messages")
    def hash_of_range(self, row: ConsolidationReceipt) -> str:
        return _in_groups(row.fingerprint)


def _in_groups(digest: str) -> str:
    """So that a line of it can break on a narrow screen."""
    return " ".join(digest[at : at + HASH_GROUP] for at in range(0, len(digest), HASH_GROUP)) or "-"


class ReceiptInline(TabularInline):
    model = ConsolidationReceipt
    verbose_name_plural = "consolidation"
    fields = ["path", "state", "first_seq", "last_seq", "messages", "model", "reason", "updated_at"]
    readonly_fields = fields
    extra = 0
    can_delete = False
    show_change_link = True
    ordering = ["-updated_at"]
    per_page = 20

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


# Conversations stand below memory, so their page learns here what memory does with them.
admin.site.unregister(Conversation)


@admin.register(Conversation)
class ConsolidatedConversationAdmin(ConversationAdmin):
    actions = [*(ConversationAdmin.actions or ()), "consolidate_history", "consolidate_preferences"]
    inlines = [*ConversationAdmin.inlines, ReceiptInline]

    @admin.action(description="Consolidate history now", permissions=["change"])
    def consolidate_history(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> None:
        self._queue(request, queryset, ConsolidationReceipt.Path.HISTORY)

    @admin.action(description="Consolidate preferences now", permissions=["change"])
    def consolidate_preferences(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> None:
        self._queue(request, queryset, ConsolidationReceipt.Path.PREFERENCES)

    def _queue(self, request: HttpRequest, queryset: QuerySet[Conversation], path: str) -> None:
        if not model_name():
            self.message_user(request, "Consolidation waits for a model.", messages.WARNING)
            return
        ids = list(queryset.values_list("pk", flat=True))
        queued = sum(pass_queue(pk, path, ASKED) is not None for pk in ids)
        if queued:
            self.message_user(request, f"{queued} queued. The jobs page shows how they go.", messages.SUCCESS)
        if queued < len(ids):
            self.message_user(request, f"{len(ids) - queued} were queued before.", messages.WARNING)

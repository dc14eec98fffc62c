"""Admin pages of conversations and messages. Messages are read-only: the transcript is evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from unfold.admin import TabularInline

from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.rendering import render_markdown
from crewsite.rows_admin import OperatorOnlyMixin, ReadOnlyModelAdmin, SiteModelAdmin

if TYPE_CHECKING:
    from django.http import HttpRequest


class MessageInline(TabularInline):
    model = Message
    fields = ["seq", "role", "short_content", "finish_reason", "private", "created_at"]
    readonly_fields = fields
    extra = 0
    can_delete = False
    show_change_link = True
    ordering = ["seq"]
    per_page = 50

    @admin.display(description="Content")
    def short_content(self, message: Message) -> str:
        return message.content[:200]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Conversation)
class ConversationAdmin(OperatorOnlyMixin, SiteModelAdmin):
    list_display = ["__str__", "owner", "workspace", "surface", "mode", "learns", "last_activity_at"]
    list_filter = ["surface", "mode", "learns", "workspace"]
    search_fields = ["title", "owner__username", "id"]
    date_hierarchy = "last_activity_at"
    readonly_fields = [
        "id",
        "workspace",
        "owner",
        "surface",
        "external_ref",
        "prefs_offset",
        "consolidated_until",
        "branched_at",
        "last_activity_at",
        "created_at",
    ]
    inlines = [MessageInline]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Message)
class MessageAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = [
        "conversation",
        "seq",
        "role",
        "__str__",
        "finish_reason",
        "is_current",
        "private",
        "created_at",
    ]
    list_filter = ["role", "finish_reason", "is_current", "private"]
    search_fields = ["content"]
    list_select_related = ["conversation"]
    fields = [
        "conversation",
        "seq",
        "role",
        "parent",
        "is_current",
        "author",
        "shown",
        "tool_calls",
        "attachments",
        "usage",
        "finish_reason",
        "private",
        "created_at",
    ]
    readonly_fields = ["shown"]

    @admin.display(description="Content")
    def shown(self, message: Message) -> str:
        return render_markdown(message.content)

"""The admin's side menu: every table under the idea it belongs to, as far as this person may see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin
from django.urls import NoReverseMatch, reverse

if TYPE_CHECKING:
    from django.http import HttpRequest

GROUPS: Final[dict[str, tuple[tuple[str, str, str], ...]]] = {
    "Memory": (
        ("Facts", "key", "memory.SemanticMemory"),
        ("Episodes", "history_edu", "memory.EpisodicMemory"),
        ("Lessons", "lightbulb", "lessons.Lesson"),
        ("Preferences", "tune", "memory.PreferencesDocument"),
        ("Projects", "folder_open", "memory.ProjectsDocument"),
        ("History", "calendar_month", "memory.HistoryEntry"),
        ("Review", "rule", "memory.ReviewItem"),
        ("Consolidation", "compress", "memory.ConsolidationReceipt"),
    ),
    "Activity": (
        ("Conversations", "forum", "conversations.Conversation"),
        ("Messages", "chat", "conversations.Message"),
        ("Turns", "swap_horiz", "chat.Turn"),
        ("Tool calls", "hub", "mcp.ToolCall"),
        ("Events", "receipt_long", "security.MemoryEvent"),
        ("Jobs", "sync", "jobs.Job"),
        ("Leases", "lock_clock", "jobs.Lease"),
        ("Heartbeats", "monitor_heart", "jobs.Heartbeat"),
    ),
    "System": (
        ("Workspaces", "workspaces", "accounts.Workspace"),
        ("People", "person", "accounts.User"),
        ("Members", "group", "accounts.Membership"),
        ("Tokens", "vpn_key", "accounts.ApiToken"),
        ("Vector spaces", "scatter_plot", "embeddings.Space"),
        ("Models", "smart_toy", "llm.Connection"),
        ("Model usage", "payments", "llm.ModelUsage"),
        ("Live settings", "settings", "constance.Config"),
    ),
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    groups = [
        {"title": title, "separator": bool(index), "items": _items(request, entries)}
        for index, (title, entries) in enumerate(GROUPS.items())
    ]
    overview = {"title": "Overview", "icon": "dashboard", "link": reverse("admin:index"), "active": _is_index}
    site = {"title": "Back to the site", "icon": "arrow_back", "link": "/", "active": lambda _request: False}
    first = {"title": "", "separator": False, "items": [overview, site]}
    return [first, *(group for group in groups if group["items"])]


def _is_index(request: HttpRequest) -> bool:
    return request.path == reverse("admin:index")


def _items(request: HttpRequest, entries: tuple[tuple[str, str, str], ...]) -> list[dict[str, Any]]:
    items = []
    for title, icon, label in entries:
        link = _link(request, label)
        if link:
            items.append({"title": title, "icon": icon, "link": link})
    return items


def _link(request: HttpRequest, label: str) -> str:
    """The list page of a table, or an empty text where it has no page or this person may not see it."""
    app_label, name = label.split(".")
    registered = {model._meta.label: page for model, page in admin.site._registry.items()}
    model_admin = registered.get(label)
    if model_admin is None or not model_admin.has_view_or_change_permission(request):
        return ""
    try:
        return reverse(f"admin:{app_label}_{name.lower()}_changelist")
    except NoReverseMatch:
        return ""

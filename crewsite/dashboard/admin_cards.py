"""The cards of the admin's first page: rows per layer, what was refused, what runs. Constant queries."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from crewsite.chat.models import TurnInjection
from crewsite.conversations.models import Conversation
from crewsite.dashboard.health import site_health
from crewsite.dashboard.selectors import REFUSALS
from crewsite.jobs.models import Job
from crewsite.security.models import MemoryEvent
from lessons.models import Lesson
from memory.fading import fading_by_home, most_taken_by_age
from memory.models import EpisodicMemory, HistoryEntry, ReviewItem, SemanticMemory

if TYPE_CHECKING:
    from django.http import HttpRequest


def admin_index(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Counts over all workspaces, so only for operators; other staff get the plain list of tables."""
    if request.user.is_superuser:
        context["cards"] = {"Memory": _memory_cards(), "Last 7 days": _activity_cards()}
        context["health"] = site_health()
        context["fading"] = fading_by_home(now=timezone.now())
        context["most_taken_by_age"] = round(100 * most_taken_by_age())
    return context


def _memory_cards() -> list[dict[str, Any]]:
    return [
        _card("Facts", SemanticMemory.objects.count(), "memory_semanticmemory"),
        _card("Episodes", EpisodicMemory.objects.count(), "memory_episodicmemory"),
        _card("Lessons", Lesson.objects.count(), "lessons_lesson"),
        _card("History entries", HistoryEntry.objects.count(), "memory_historyentry"),
        _card("To review", ReviewItem.objects.filter(decided_at__isnull=True).count(), "memory_reviewitem"),
    ]


def _activity_cards() -> list[dict[str, Any]]:
    since = timezone.now() - timedelta(days=7)
    refused = MemoryEvent.objects.filter(event__in=REFUSALS, at__gte=since).count()
    used = Conversation.objects.filter(last_activity_at__gte=since).count()
    injected = TurnInjection.objects.filter(turn__created_at__gte=since).count()
    failed = Job.objects.filter(state=Job.State.FAILED, created_at__gte=since).count()
    return [
        _card("Conversations", used, "conversations_conversation"),
        _card("Rows injected", injected, "chat_turn"),
        _card("Refused writes", refused, "security_memoryevent"),
        _card("Jobs running", Job.objects.active().count(), "jobs_job"),
        _card("Jobs failed", failed, "jobs_job"),
    ]


def _card(title: str, value: int, page: str) -> dict[str, Any]:
    try:
        link = reverse(f"admin:{page}_changelist")
    except NoReverseMatch:
        link = ""
    return {"title": title, "value": value, "link": link}

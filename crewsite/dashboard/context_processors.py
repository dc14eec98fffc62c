"""What every page's frame needs: version, navigation, what waits for review, and whether something
runs with limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from crewsite.dashboard.reviews import reviews_waiting
from crewsite.jobs.store import maintenance_now

if TYPE_CHECKING:
    from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    return {
        "crew": {
            "version": settings.CREW_VERSION,
            "nav": SimpleLazyObject(lambda: navigation(request)),
            "maintenance": SimpleLazyObject(maintenance_now),
            "model_connected": SimpleLazyObject(model_connected),
        }
    }


def model_connected() -> bool:
    from crewsite.llm.targets import target_of

    return target_of() is not None


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the bar. `flag` marks that something runs with limits, `count` what waits for somebody."""

    label: str
    url: str
    current: bool
    flag: bool = False
    count: int = 0


def navigation(request: HttpRequest) -> list[Entry]:
    from crewsite.embeddings.service import embedder_status

    context_url = reverse("dashboard:context")
    in_context = request.path.startswith(context_url)
    entries = [
        _entry(request, "Home", reverse("dashboard:home")),
        _entry(request, "Chat", reverse("chat:home")),
        Entry("Memory", reverse("dashboard:memory_home"), _under(request, "/memory/") and not in_context),
        _entry(request, "Context", context_url),
        replace(_entry(request, "Review", reverse("dashboard:review")), count=reviews_waiting(request)),
        _entry(request, "Events", reverse("dashboard:events")),
        _entry(request, "Jobs", reverse("dashboard:jobs")),
        _entry(request, "Connect", reverse("mcp:connect")),
        replace(
            _entry(request, "Status", reverse("dashboard:status")), flag=embedder_status().state != "ready"
        ),
    ]
    if getattr(request.user, "is_superuser", False):
        entries.append(_entry(request, "Settings", reverse("dashboard:settings-models")))
    if getattr(request.user, "is_staff", False):
        entries.append(_entry(request, "Admin", reverse("admin:index")))
    return entries


def _entry(request: HttpRequest, label: str, url: str) -> Entry:
    return Entry(label, url, request.path == url if url == "/" else _under(request, url))


def _under(request: HttpRequest, url: str) -> bool:
    return request.path.startswith(url)

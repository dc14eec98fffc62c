"""What every page's frame needs: version, navigation, and whether something runs with limits. No query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

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
    from crewsite.llm.providers import endpoint_configured

    return endpoint_configured() is not None


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Entries of the top bar; Status carries a flag while the embedder is not ready in this process."""
    from crewsite.embeddings.service import embedder_status

    entries = [
        ("Home", reverse("dashboard:home"), False),
        ("Chat", reverse("chat:home"), False),
        ("Context", reverse("dashboard:context"), False),
        ("Jobs", reverse("dashboard:jobs"), False),
        ("Connect", reverse("mcp:connect"), False),
        ("Status", reverse("dashboard:status"), embedder_status().state != "ready"),
    ]
    if getattr(request.user, "is_staff", False):
        entries.append(("Admin", reverse("admin:index"), False))
    return [
        {"label": label, "url": url, "flag": flag, "current": _is_current(request.path, url)}
        for label, url, flag in entries
    ]


def _is_current(path: str, url: str) -> bool:
    return path == url if url == "/" else path.startswith(url)

"""Background work of layers 1 to 5, named by dotted path in `schedules`."""

from __future__ import annotations

from django.utils import timezone

from crewsite.security.events import events_prune
from memory.services import history_prune


def prune() -> dict[str, int]:
    """Daily: history past its age and events past their ring. Running it twice does no harm."""
    return {"history": history_prune(timezone.now()), "events": events_prune()}

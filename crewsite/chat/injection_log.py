"""When a memory row was last put into a prompt, for those who explain the row (INJECTION_LOG)."""

from __future__ import annotations

from crewsite.chat.models import TurnInjection
from memory.results import Injected


def last_injections(*, kind: str, object_id: int, limit: int) -> list[Injected]:
    """Newest first."""
    rows = (
        TurnInjection.objects.filter(kind=kind, object_id=object_id)
        .order_by("-turn__created_at", "-pk")
        .values_list("turn__created_at", "turn__conversation_id", "rank", "score")
    )
    return [Injected(*row) for row in rows[:limit]]

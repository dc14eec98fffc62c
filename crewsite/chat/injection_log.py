"""Which memory rows were put into prompts: when a row last was, for those who explain it (INJECTION_LOG), and
which a conversation was given, for those who search what was said in it (INJECTED_ROWS)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import F, Q

from crewsite.chat.models import TurnInjection
from memory.results import Injected

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.db.models import QuerySet


def last_injections(*, kind: str, stood: Q, limit: int) -> list[Injected]:
    """Of what `stood` names by `object_id` and `at`, newest first."""
    rows = (
        TurnInjection.objects.filter(kind=kind)
        .alias(at=F("turn__created_at"))
        .filter(stood)
        .order_by("-turn__created_at", "-pk")
        .values_list("turn__created_at", "turn__conversation_id", "rank", "score")
    )
    return [Injected(*row) for row in rows[:limit]]


def injected_rows(*, kind: str, conversation_ids: Iterable[UUID]) -> QuerySet[Any, Any]:
    """Ids, as a subquery."""
    given = TurnInjection.objects.filter(kind=kind, turn__conversation__in=conversation_ids)
    return given.order_by().values("object_id")

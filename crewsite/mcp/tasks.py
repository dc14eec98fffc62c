"""Background work of the MCP door, named by dotted path in `schedules`."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from crewsite.mcp.constants import CALLS_KEEP_DAYS, CALLS_KEEP_ROWS
from crewsite.mcp.models import ToolCall


def calls_prune(now: datetime | None = None) -> int:
    """Daily: calls past their age, and the oldest over the number kept. Twice does no harm."""
    before = (now or timezone.now()) - timedelta(days=CALLS_KEEP_DAYS)
    gone = ToolCall.objects.filter(at__lt=before).delete()[0]
    oldest_kept = ToolCall.objects.order_by("-id").values_list("id", flat=True)[
        CALLS_KEEP_ROWS - 1 : CALLS_KEEP_ROWS
    ]
    for row_id in list(oldest_kept):
        gone += ToolCall.objects.filter(id__lt=row_id).delete()[0]
    return gone

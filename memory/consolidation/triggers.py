"""When passes are queued: after a turn, at every tick of the heartbeat, and when a person asks. No timer of
its own."""

from __future__ import annotations

import datetime as dt
import logging
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from crewsite.conversations.models import Conversation
from crewsite.jobs.models import Job
from crewsite.jobs.services import job_queue
from crewsite.llm.targets import model_name
from memory.consolidation.constants import QUEUED_PER_TICK
from memory.consolidation.pending import blocked_ranges, due_now, is_due, learning, unconsolidated
from memory.consolidation.requests import requests_propose_due
from memory.models import ConsolidationReceipt

logger = logging.getLogger(__name__)

JOB_KIND: Final = "consolidation"
TASK: Final = "memory.consolidation.tasks.consolidate"
DUE, ASKED = "due", "asked"
Path = ConsolidationReceipt.Path


def turn_ended(conversation_id: UUID) -> None:
    """After every turn: a preferences pass once 30 messages have come together."""
    now = timezone.now()
    row = unconsolidated(learning().filter(pk=conversation_id), Path.PREFERENCES).first()
    if row is None or not is_due(row, Path.PREFERENCES, row.waiting_messages, now):
        return
    if not model_name():
        return
    if (row.pk, row.waiting_until) not in blocked_ranges(Path.PREFERENCES, now):
        pass_queue(row.pk, Path.PREFERENCES)


def heartbeat(now: dt.datetime | None = None) -> int:
    """Every minute: queue what is due. Without a model nothing is distilled, but explicit requests are found.

    Returns how many passes were queued. A second tick meets the jobs of the first and queues nothing twice.
    """
    now = now or timezone.now()
    if not model_name():
        requests_propose_due(now)
        return 0
    queued = 0
    for path in (Path.PREFERENCES, Path.HISTORY):
        for conversation_id in due_now(path, now):
            if queued >= QUEUED_PER_TICK:
                return queued
            queued += pass_queue(conversation_id, path) is not None
    return queued


def pass_queue(conversation_id: UUID, path: str, how: str = DUE) -> Job | None:
    """A job for a pass; None when one for it is queued or running already."""
    args = [str(conversation_id), str(path)]
    active: set[tuple[Any, ...]] = {
        tuple(known[:2]) for known in Job.objects.active().of_kind(JOB_KIND).values_list("args", flat=True)
    }
    if tuple(args) in active:
        return None
    workspace_id = Conversation.objects.values_list("workspace_id", flat=True).get(pk=conversation_id)
    return job_queue(kind=JOB_KIND, task=TASK, args=[*args, how], workspace_id=workspace_id)

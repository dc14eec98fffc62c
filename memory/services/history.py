"""Appending to layer 3 and the daily prune. Entries are filed under the local day of their workspace (chapter
02, 2.2).
"""

from __future__ import annotations

import datetime as dt
from itertools import groupby
from typing import TYPE_CHECKING

from django.db import transaction

from crewsite.accounts.models import Workspace
from crewsite.security.events import event_record
from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Origin, Source, Surface
from crewsite.security.text import clean, number_of
from memory.constants import HISTORY_TITLE_MAX_CHARS
from memory.history import local_moment
from memory.live import history_max_days
from memory.models import HistoryEntry
from memory.results import HistoryResult, Refusal
from memory.services.gate import gate, refusal_record

if TYPE_CHECKING:
    from crewsite.conversations.models import Conversation

PRUNE_ORIGIN = Origin(source=Source.TASK, surface=Surface.TASK)


def history_append(
    *,
    workspace: Workspace,
    title: str,
    text: str,
    at: dt.datetime,
    conversation: Conversation | None = None,
    origin: Origin,
) -> HistoryResult:
    """File one entry under the local day and time of `at` (aware)."""
    title, text = " ".join(clean(title).split())[:HISTORY_TITLE_MAX_CHARS], clean(text).strip()
    refusal: Refusal | None = None
    if not title or not text:
        refusal = Refusal("history_empty", "A history entry has a title and a text.")
        refusal_record(refusal, f"{title} {text}", home=workspace, memory_type="history", origin=origin)
    else:
        refusal = gate(f"{title}\n{text}", home=workspace, memory_type="history", origin=origin)
    if refusal is not None:
        return HistoryResult("refused", None, refusal.code, refusal.message)
    local = local_moment(workspace, at)
    with transaction.atomic():
        row = HistoryEntry.objects.create(
            workspace=workspace,
            day=local.date(),
            time=local.time().replace(microsecond=0),
            title=title,
            text=text,
            conversation=conversation,
        )
        event_record(
            home_id=workspace.pk,
            event=MemoryEvent.Event.CREATE,
            memory_type="history",
            object_id=row.pk,
            new=f"{title}\n{text}",
            origin=origin,
        )
        return HistoryResult("stored", row)


def history_prune(now: dt.datetime) -> int:
    """Delete entries of `history_max_days` local days of age and more, in every workspace;
    the events keep the counts.
    """
    deleted = 0
    keep = dt.timedelta(days=history_max_days())
    for workspace in Workspace.objects.order_by("pk"):
        last_day = local_moment(workspace, now).date() - keep
        with transaction.atomic():
            old = HistoryEntry.objects.filter(workspace=workspace, day__lte=last_day)
            days = [day for day, _ in groupby(old.order_by("day").values_list("day", flat=True))]
            if not days:
                continue
            count, _ = old.delete()
            event_record(
                home_id=workspace.pk,
                event=MemoryEvent.Event.PRUNED,
                memory_type="history",
                new=count,
                reason=(
                    f"{number_of(count, 'entry', 'entries')} of {number_of(len(days), 'day')}"
                    f" up to {days[-1]:%Y-%m-%d}"
                ),
                origin=PRUNE_ORIGIN,
            )
        deleted += count
    return deleted

"""Writing many episodes at once, for imports: a few statements a batch, embedded later by the backfill."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db.models import F
from django.utils import timezone

from crewsite.search.collections import collection_name
from crewsite.search.service import documents_put_many
from crewsite.security.events import events_record_many
from memory.constants import BULK_ROWS_PER_TRANSACTION
from memory.live import episodic_max_rows
from memory.models import EpisodicMemory
from memory.results import EpisodicResult, Refusal
from memory.services.episodic import (
    EpisodicDraft,
    Prepared,
    created_event,
    deduped_event,
    evict_over_cap,
    new_row,
    prepare,
    store_full,
)
from memory.services.locks import home_locked
from memory.services.twins import KIND

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from crewsite.security.models import MemoryEvent
    from crewsite.security.origin import Origin


def episodic_write_many(
    *,
    home: Workspace,
    drafts: Sequence[EpisodicDraft],
    origin: Origin,
    preserve: bool = True,
    author: User | None = None,
    now: dt.datetime | None = None,
) -> list[EpisodicResult]:
    """One result for each draft, in order. The rules of `episodic_write` with its embedding deferred.

    A draft equal to an earlier one of the same call is `deduped` against it.
    """
    now = now or timezone.now()
    results: list[EpisodicResult] = []
    for start in range(0, len(drafts), BULK_ROWS_PER_TRANSACTION):
        part = drafts[start : start + BULK_ROWS_PER_TRANSACTION]
        prepared = [prepare(draft, home=home, origin=origin, now=now) for draft in part]
        results += _write_batch(prepared, home=home, origin=origin, preserve=preserve, author=author, now=now)
    return results


def _write_batch(
    batch: list[Prepared | Refusal],
    *,
    home: Workspace,
    origin: Origin,
    preserve: bool,
    author: User | None,
    now: dt.datetime,
) -> list[EpisodicResult]:
    with home_locked(home):
        hashes = {item.folded_hash for item in batch if isinstance(item, Prepared)}
        here = EpisodicMemory.objects.filter(home=home, folded_hash__in=hashes).order_by("-pk")
        known = {row.folded_hash: row for row in here}
        live = EpisodicMemory.objects.filter(home=home).count()
        room = episodic_max_rows() - live
        fresh: dict[str, EpisodicMemory] = {}
        for item in batch:
            if isinstance(item, Refusal) or item.folded_hash in known or item.folded_hash in fresh:
                continue
            if not preserve or len(fresh) < room:
                fresh[item.folded_hash] = new_row(item, home=home, origin=origin, author=author)
        rows = EpisodicMemory.objects.bulk_create(fresh.values())
        documents_put_many(
            collection=collection_name(KIND, home.pk), items=[(row.pk, row.text) for row in rows]
        )
        events: list[MemoryEvent] = []
        results = [_result(item, known, fresh, home=home, origin=origin, events=events) for item in batch]
        if not preserve:
            _confirm(results, now)
            keep = tuple(row.pk for row in rows)
            events += evict_over_cap(home=home, origin=origin, now=now, keep=keep, live=live + len(rows))
        events_record_many(events)
    return results


def _confirm(results: list[EpisodicResult], now: dt.datetime) -> None:
    """Rows that drafts only repeat were seen again, each as often as it was met."""
    met = Counter(result.row.pk for result in results if result.outcome == "deduped" and result.row)
    for times in set(met.values()):
        again = [pk for pk, often in met.items() if often == times]
        EpisodicMemory.objects.filter(pk__in=again).update(
            confirmed_at=now, times_seen=F("times_seen") + times, updated_at=now
        )


def _result(
    item: Prepared | Refusal,
    known: dict[str, EpisodicMemory],
    fresh: dict[str, EpisodicMemory],
    *,
    home: Workspace,
    origin: Origin,
    events: list[MemoryEvent],
) -> EpisodicResult:
    """The answer for one draft, with its event.
    The first draft of a text takes its new row; later ones meet it.
    """
    if isinstance(item, Refusal):
        return EpisodicResult("refused", None, item.code, item.message)
    twin = known.get(item.folded_hash)
    if twin is not None:
        events.append(deduped_event(twin, item, origin=origin))
        return EpisodicResult(
            "deduped", twin, "duplicate", f"Episode {twin.pk} says the same.", item.dropped_tags
        )
    row = fresh.get(item.folded_hash)
    if row is None:
        return store_full(item, home=home, origin=origin)
    known[item.folded_hash] = row
    events.append(created_event(row, origin))
    return EpisodicResult("stored", row, dropped_tags=item.dropped_tags)

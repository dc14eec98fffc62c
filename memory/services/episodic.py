"""Writing one episode: gate, duplicates, changed facts and the cap of a home (chapter 02, 2.4).
Bulk writes are in `bulk`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import F
from django.utils import timezone

from crewsite.embeddings.service import Embedding, embed_document
from crewsite.rows import row_insert
from crewsite.search.collections import collection_name
from crewsite.search.service import (
    document_delete,
    document_put,
    documents_delete_many,
)
from crewsite.security.events import event_record, event_row, events_record_many
from crewsite.security.models import MemoryEvent
from crewsite.security.text import clean, folded_hash
from memory.constants import (
    DEFAULT_IMPORTANCE,
)
from memory.live import episodic_max_rows
from memory.models import EpisodicMemory, ReviewItem
from memory.results import EpisodicEdit, EpisodicResult, Refusal
from memory.rules import clamp_importance, importance_refusal, moment_refusal, tags_of, text_refusal
from memory.services.gate import gate, refusal_record
from memory.services.locks import home_locked
from memory.services.review import review_add
from memory.services.room import live_rows
from memory.services.twins import KIND, Twin, twin_find

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from crewsite.rows import RowGuard
    from crewsite.security.origin import Origin

CAPACITY = "capacity"
SUMMARY_CHARS = 120
_HOME_STATE = """
    SELECT (SELECT MIN(id) FROM memory_episodicmemory
            WHERE home_id = %s AND folded_hash = %s AND NOT is_deleted AND id <> %s),
           (SELECT MAX(id) FROM memory_episodicmemory)
"""


@dataclass(frozen=True, slots=True)
class EpisodicDraft:
    """One episode to be written, as given."""

    text: str
    importance: float = DEFAULT_IMPORTANCE
    tags: Iterable[str] | str | None = ()
    created_at: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft that has passed every check which needs no row."""

    text: str
    folded_hash: str
    importance: float
    tags: tuple[str, ...]
    dropped_tags: tuple[str, ...]
    created_at: dt.datetime


def episodic_write(
    *,
    home: Workspace,
    text: str,
    origin: Origin,
    importance: float = DEFAULT_IMPORTANCE,
    tags: Iterable[str] | str | None = (),
    created_at: dt.datetime | None = None,
    preserve: bool = False,
    defer_embedding: bool = False,
    author: User | None = None,
    now: dt.datetime | None = None,
    override_screen: bool = False,
) -> EpisodicResult:
    """Store an episode, or say which live one says the same.

    `preserve` (imports): no row that is here is changed, merged into or evicted; a full home refuses. With
    `defer_embedding`, or while no embedder is ready,
    only exact duplicates are seen and the backfill embeds the row.
    """
    now = now or timezone.now()
    draft = EpisodicDraft(text, importance, tags, created_at)
    prepared = prepare(draft, home=home, origin=origin, now=now, override_screen=override_screen)
    if isinstance(prepared, Refusal):
        return EpisodicResult("refused", None, prepared.code, prepared.message)
    embedding = None if defer_embedding else embed_document(prepared.text)
    with home_locked(home):
        exact_id, newest_id = _home_state(home, prepared.folded_hash)
        twin = twin_find(home, prepared.text, embedding, told_at=prepared.created_at, exact_id=exact_id)
        if twin is not None and twin.differs_in is None:
            return _dedupe(twin.row, prepared, home=home, origin=origin, now=now, preserve=preserve)
        live = live_rows(home, newest_id=newest_id)
        if preserve and live >= episodic_max_rows():
            return store_full(prepared, home=home, origin=origin)
        row = new_row(prepared, home=home, origin=origin, author=author)
        row.possibly_supersedes = twin.row if twin else None
        row_insert(row)
        index_put(row, embedding)
        events = [created_event(row, origin)]
        if not preserve:
            events += evict_over_cap(home=home, origin=origin, now=now, keep=(row.pk,), live=live + 1)
        events_record_many(events)
        if twin is not None:
            _ask_for_review(row, twin)
    return EpisodicResult(
        "stored", row, dropped_tags=prepared.dropped_tags, possibly_supersedes=twin.row.pk if twin else None
    )


def episodic_delete(
    *,
    row: EpisodicMemory,
    origin: Origin,
    reason: str = "deleted",
    now: dt.datetime | None = None,
    guard: RowGuard | None = None,
) -> EpisodicMemory:
    """Tombstone an episode. Deleting what is deleted already changes nothing."""
    with home_locked(row.home):
        row = EpisodicMemory.all_objects.get(pk=row.pk)
        if row.is_deleted:
            return row
        if guard is not None:
            guard(row)
        row.mark_deleted(reason=reason, now=now)
        row.save(update_fields=["is_deleted", "deleted_at", "deleted_reason", "updated_at"])
        document_delete(collection=collection_name(KIND, row.home_id), object_id=row.pk)
        event_record(
            home_id=row.home_id,
            event=MemoryEvent.Event.DELETE,
            memory_type=KIND,
            object_id=row.pk,
            old=row.text,
            reason=reason,
            origin=origin,
        )
    return row


def episodic_edit(
    *,
    row: EpisodicMemory,
    text: str,
    importance: float,
    tags: Iterable[str] | str | None,
    origin: Origin,
    now: dt.datetime | None = None,
) -> EpisodicEdit:
    """Correct a live episode in place, under the rules of a new one; the event keeps the old text."""
    draft = EpisodicDraft(text, importance, tags, row.created_at)
    prepared = prepare(draft, home=row.home, origin=origin, now=now or timezone.now(), queue_refused=False)
    if isinstance(prepared, Refusal):
        return EpisodicEdit("refused", row, prepared.code, prepared.message)
    embedding = embed_document(prepared.text)
    with home_locked(row.home):
        current = EpisodicMemory.objects.filter(pk=row.pk).first()
        if current is None:
            return EpisodicEdit("refused", row, "deleted", "The episode was deleted; restore it first.")
        exact_id, _ = _home_state(row.home, prepared.folded_hash, besides=row.pk)
        if exact_id is not None:
            return EpisodicEdit("refused", current, "duplicate", f"Episode {exact_id} says the same.")
        old = _snapshot(current)
        current.text, current.folded_hash = prepared.text, prepared.folded_hash
        current.importance, current.tags = prepared.importance, list(prepared.tags)
        if old == _snapshot(current):
            return EpisodicEdit("unchanged", current, dropped_tags=prepared.dropped_tags)
        current.save(update_fields=["text", "folded_hash", "importance", "tags", "updated_at"])
        index_put(current, embedding)
        event_record(
            home_id=row.home_id,
            event=MemoryEvent.Event.UPDATE,
            memory_type=KIND,
            object_id=row.pk,
            old=old,
            new=_snapshot(current),
            origin=origin,
        )
    return EpisodicEdit("updated", current, dropped_tags=prepared.dropped_tags)


def prepare(
    draft: EpisodicDraft,
    *,
    home: Workspace,
    origin: Origin,
    now: dt.datetime,
    override_screen: bool = False,
    queue_refused: bool = True,
) -> Prepared | Refusal:
    """Clean and check a draft; a refusal is audited,
    and put in the review queue when a person asked for the write.
    """
    text, tags, importance = (
        clean(draft.text).strip(),
        tags_of(draft.tags),
        clamp_importance(draft.importance),
    )
    created_at = draft.created_at or now
    if timezone.is_naive(created_at):
        created_at = created_at.replace(tzinfo=dt.UTC)
    refusal = text_refusal(text) or importance_refusal(draft.importance) or moment_refusal(created_at)
    if refusal is not None:
        refusal_record(refusal, text, home=home, memory_type=KIND, origin=origin)
        return refusal
    payload = {"text": text, "importance": importance, "tags": list(tags.kept)} if queue_refused else None
    refusal = gate(
        text, home=home, memory_type=KIND, origin=origin, payload=payload, override_screen=override_screen
    )
    if refusal is not None:
        return refusal
    return Prepared(text, folded_hash(text), importance, tags.kept, tags.dropped, created_at)


def new_row(prepared: Prepared, *, home: Workspace, origin: Origin, author: User | None) -> EpisodicMemory:
    return EpisodicMemory(
        home=home,
        text=prepared.text,
        folded_hash=prepared.folded_hash,
        importance=prepared.importance,
        tags=list(prepared.tags),
        source=origin.source,
        author=author,
        conversation_id=origin.conversation_id,
        created_at=prepared.created_at,
    )


def index_put(row: EpisodicMemory, embedding: Embedding | None) -> None:
    document_put(
        collection=collection_name(KIND, row.home_id), object_id=row.pk, text=row.text, embedding=embedding
    )


def created_event(row: EpisodicMemory, origin: Origin) -> MemoryEvent:
    return event_row(
        home_id=row.home_id,
        event=MemoryEvent.Event.CREATE,
        memory_type=KIND,
        object_id=row.pk,
        new=row.text,
        origin=origin,
    )


def deduped_event(row: EpisodicMemory, prepared: Prepared, *, origin: Origin) -> MemoryEvent:
    return event_row(
        home_id=row.home_id,
        event=MemoryEvent.Event.DEDUPED,
        memory_type=KIND,
        object_id=row.pk,
        new=prepared.text,
        origin=origin,
    )


def store_full(prepared: Prepared, *, home: Workspace, origin: Origin) -> EpisodicResult:
    refusal = Refusal(
        "store_full", f"This home holds its {episodic_max_rows()} episodes; an import evicts none of them."
    )
    refusal_record(refusal, prepared.text, home=home, memory_type=KIND, origin=origin)
    return EpisodicResult("refused", None, refusal.code, refusal.message, prepared.dropped_tags)


def evict_over_cap(
    *, home: Workspace, origin: Origin, now: dt.datetime, keep: tuple[int, ...], live: int
) -> list[MemoryEvent]:
    """Tombstone the least important, then oldest of `live` rows over the cap; `keep` was just written.
    Returns the events for the caller to record.
    """
    over = live - episodic_max_rows()
    if over <= 0:
        return []
    rows = EpisodicMemory.objects.filter(home=home).exclude(pk__in=keep).eviction_order()
    victims = dict(rows.values_list("pk", "text")[:over])
    EpisodicMemory.all_objects.filter(pk__in=victims).update(
        is_deleted=True, deleted_at=now, deleted_reason=CAPACITY, updated_at=now
    )
    documents_delete_many(collection=collection_name(KIND, home.pk), object_ids=list(victims))
    return [
        event_row(
            home_id=home.pk,
            event=MemoryEvent.Event.EVICTED,
            memory_type=KIND,
            object_id=pk,
            old=text,
            reason=CAPACITY,
            origin=origin,
        )
        for pk, text in victims.items()
    ]


def _dedupe(
    row: EpisodicMemory,
    prepared: Prepared,
    *,
    home: Workspace,
    origin: Origin,
    now: dt.datetime,
    preserve: bool,
) -> EpisodicResult:
    if not preserve:
        EpisodicMemory.objects.filter(pk=row.pk).update(
            confirmed_at=now, times_seen=F("times_seen") + 1, updated_at=now
        )
        row.confirmed_at, row.times_seen = now, row.times_seen + 1
    events_record_many([deduped_event(row, prepared, origin=origin)])
    return EpisodicResult(
        "deduped", row, "duplicate", f"Episode {row.pk} says the same.", dropped_tags=prepared.dropped_tags
    )


def _ask_for_review(row: EpisodicMemory, twin: Twin) -> None:
    review_add(
        home=row.home,
        kind=ReviewItem.Kind.POSSIBLY_SUPERSEDES,
        summary=f"“{row.text[:SUMMARY_CHARS]}” may replace “{twin.row.text[:SUMMARY_CHARS]}”",
        payload={"layer": KIND, "new": row.pk, "old": twin.row.pk, "differs_in": twin.differs_in},
    )


def _home_state(home: Workspace, text_hash: str, *, besides: int = 0) -> tuple[int | None, int]:
    """(id of a live row with this folded text, newest id of all homes), read under the lock.

    One statement in plain SQL: every write needs both, and the ORM takes longer to build them than they run.
    """
    with connection.cursor() as cursor:
        cursor.execute(_HOME_STATE, [home.pk, text_hash, besides])
        exact_id, newest_id = cursor.fetchone()
    return exact_id, newest_id or 0


def _snapshot(row: EpisodicMemory) -> dict[str, object]:
    return {"text": row.text, "importance": row.importance, "tags": list(row.tags)}

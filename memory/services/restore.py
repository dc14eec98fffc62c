"""Bringing a tombstoned or superseded row back: screened and compared again, audited (chapter 02, 2.8)."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from django.utils import timezone

from crewsite.embeddings.service import embed_document
from crewsite.security.events import event_record, events_record_many
from crewsite.security.models import MemoryEvent
from memory.conflict import Claim, decide, skip_reason
from memory.models import EpisodicMemory, SemanticMemory, VersionedDocument
from memory.results import Refusal, RestoreResult
from memory.rules import render_value
from memory.services import episodic, semantic
from memory.services.documents import document_restore
from memory.services.gate import gate, refusal_record
from memory.services.locks import home_locked
from memory.services.room import counts_forget
from memory.services.twins import KIND, near_twins

if TYPE_CHECKING:
    from crewsite.accounts.models import User
    from crewsite.security.origin import Origin

IN_FORCE: Final = "It is in force already."
Restorable = SemanticMemory | EpisodicMemory | VersionedDocument


def memory_restore(
    *, row: Restorable, origin: Origin, author: User | None = None, now: dt.datetime | None = None
) -> RestoreResult:
    """Make a row of layer 1, 2, 4 or 5 live again.
    What took its place is superseded by it, under the same rules.
    """
    if isinstance(row, SemanticMemory):
        return _restore_fact(row, origin, now)
    if isinstance(row, EpisodicMemory):
        return _restore_episode(row, origin, now)
    result = document_restore(row=row, origin=origin, author=author)
    if result.outcome == "unchanged":
        return RestoreResult("unchanged", result.row, message=IN_FORCE)
    if result.outcome == "refused":
        return RestoreResult("refused", result.row, result.code, result.message)
    return RestoreResult("restored", result.row, message=result.message)


def _restore_fact(row: SemanticMemory, origin: Origin, now: dt.datetime | None) -> RestoreResult:
    text = f"{row.key}: {render_value(row.value)}"
    refusal = gate(text, home=row.home, memory_type=semantic.KIND, origin=origin)
    if refusal is not None:
        return RestoreResult("refused", None, refusal.code, refusal.message)
    embedding = embed_document(semantic.index_text(row.key, row.value))
    with home_locked(row.home):
        row = SemanticMemory.all_objects.get(pk=row.pk)
        if not row.is_deleted:
            return RestoreResult("unchanged", row, message=IN_FORCE)
        now = semantic.moment_of(row.home, row.key, now)
        current = SemanticMemory.objects.filter(home=row.home, key=row.key).first()
        if current is not None:
            there = Claim(current.value, current.source, current.confidence)
            wanted = Claim(row.value, str(origin.source), row.confidence)
            decision = decide(there, wanted)
            if decision in {"unchanged", "confirm"}:
                return _refused(
                    row, semantic.KIND, text, "duplicate", "The key has this value already.", origin
                )
            if decision == "skip":
                reason = skip_reason(there, wanted)
                return _refused(row, semantic.KIND, text, "conflict_skip", reason, origin)
            semantic.supersede(current, by=row, now=now)
        # That it stood before, and until when, stays known as a tombstone of its own.
        row.keep_past()
        row.clear_deleted()
        row.superseded_by, row.valid_from = None, now
        if origin.is_explicit:
            # Bringing a value back is a person's decision: no automatic writer may replace it again.
            row.source = origin.source
        row.save(
            update_fields=[
                "is_deleted",
                "deleted_at",
                "deleted_reason",
                "superseded_by",
                "valid_from",
                "source",
                "updated_at",
            ]
        )
        semantic.index_put(row, embedding)
        _record(row, semantic.KIND, current.value if current else None, row.value, origin)
    return RestoreResult("restored", row)


def _restore_episode(row: EpisodicMemory, origin: Origin, now: dt.datetime | None) -> RestoreResult:
    refusal = gate(row.text, home=row.home, memory_type=KIND, origin=origin)
    if refusal is not None:
        return RestoreResult("refused", None, refusal.code, refusal.message)
    embedding = embed_document(row.text)
    with home_locked(row.home):
        row = EpisodicMemory.all_objects.get(pk=row.pk)
        if not row.is_deleted:
            return RestoreResult("unchanged", row, message=IN_FORCE)
        exact = EpisodicMemory.objects.filter(home=row.home, folded_hash=row.folded_hash).first()
        near = [] if exact else near_twins(row.home, row.text, embedding)
        twin = exact or next((twin.row for twin in near if twin.differs_in is None), None)
        if twin is not None:
            reason = f"Episode {twin.pk} says the same."
            return _refused(row, KIND, row.text, "duplicate", reason, origin)
        row.clear_deleted()
        row.save(update_fields=["is_deleted", "deleted_at", "deleted_reason", "updated_at"])
        episodic.index_put(row, embedding)
        _record(row, KIND, None, row.text, origin)
        counts_forget()
        live = EpisodicMemory.objects.filter(home=row.home).count()
        evicted = episodic.evict_over_cap(
            home=row.home, origin=origin, now=now or timezone.now(), keep=(row.pk,), live=live
        )
        events_record_many(evicted)
    return RestoreResult("restored", row)


def _refused(  # noqa: PLR0917 - what an event says of a refusal
    row: SemanticMemory | EpisodicMemory, kind: str, text: str, code: str, message: str, origin: Origin
) -> RestoreResult:
    refusal = Refusal(code, message)
    refusal_record(refusal, text, home=row.home, memory_type=kind, origin=origin, object_id=row.pk)
    return RestoreResult("refused", None, code, message)


def _record(row: SemanticMemory | EpisodicMemory, kind: str, old: Any, new: Any, origin: Origin) -> None:
    event_record(
        home_id=row.home_id,
        event=MemoryEvent.Event.RESTORE,
        memory_type=kind,
        object_id=row.pk,
        old=old,
        new=new,
        origin=origin,
    )

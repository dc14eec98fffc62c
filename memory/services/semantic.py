"""Writing facts: gate, conflict decision and supersession in one transaction (chapter 02, 2.3)."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from crewsite.embeddings.service import Embedding, embed_document
from crewsite.rows import moment_after
from crewsite.search.collections import collection_name
from crewsite.search.service import document_delete, document_put
from crewsite.security.events import event_record
from crewsite.security.models import MemoryEvent
from memory.conflict import Claim, Decision, decide, skip_reason
from memory.live import extra_key_prefixes
from memory.models import SemanticMemory
from memory.results import Refusal, SemanticResult
from memory.rules import (
    clean_value,
    confidence_refusal,
    key_refusal,
    key_words,
    merged_keys_refusal,
    render_value,
    value_refusal,
)
from memory.services.gate import gate, refusal_record
from memory.services.locks import home_locked
from memory.services.retire import retire_quoting_episodes

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from crewsite.rows import RowGuard
    from crewsite.security.origin import Origin

KIND = "semantic"
SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class _Write:
    """A write that has passed every check which needs no row."""

    home: Workspace
    key: str
    value: Any
    confidence: float
    origin: Origin
    author: User | None
    now: dt.datetime | None

    @property
    def claim(self) -> Claim:
        return Claim(self.value, str(self.origin.source), self.confidence)


def index_text(key: str, value: Any) -> str:
    """What the index holds of a fact: the words of its key, then its value."""
    return f"{key_words(key)}: {render_value(value)}"


def semantic_write(
    *,
    home: Workspace,
    key: str,
    value: Any,
    origin: Origin,
    confidence: float = 1.0,
    author: User | None = None,
    now: dt.datetime | None = None,
    override_screen: bool = False,
    guard: RowGuard | None = None,
) -> SemanticResult:
    """Set a key. A changed value keeps its predecessor,
    tombstoned as superseded and linked to the new row.
    """
    checked = _check(
        home=home, key=key, value=value, origin=origin, confidence=confidence, override_screen=override_screen
    )
    if isinstance(checked, Refusal):
        return SemanticResult("refused", None, checked.code, checked.message)
    write = _Write(home, key, checked[0], float(confidence), origin, author, now)
    # A look before the lock only saves the embedding of a value that will not be stored;
    # the decision is made under it.
    stores = decide(_claim_of(_live(write)), write.claim) in {"create", "replace"}
    embedding = embed_document(index_text(key, write.value)) if stores else None
    with home_locked(home):
        existing = _live(write)
        if guard is not None:
            guard(existing)
        return _apply(write, existing, decide(_claim_of(existing), write.claim), embedding)


def semantic_set_if_absent(
    *,
    home: Workspace,
    key: str,
    value: Any,
    origin: Origin,
    confidence: float = 1.0,
    author: User | None = None,
    now: dt.datetime | None = None,
) -> SemanticResult:
    """For imports: creates the fact,
    never touches one that is there (`unchanged` with that row). Embedded later.
    """
    checked = _check(home=home, key=key, value=value, origin=origin, confidence=confidence)
    if isinstance(checked, Refusal):
        return SemanticResult("refused", None, checked.code, checked.message)
    write = _Write(home, key, checked[0], float(confidence), origin, author, now)
    with home_locked(home):
        existing = _live(write)
        return _apply(write, existing, "create" if existing is None else "unchanged", None)


def semantic_delete(
    *,
    row: SemanticMemory,
    origin: Origin,
    reason: str = "deleted",
    now: dt.datetime | None = None,
    guard: RowGuard | None = None,
) -> SemanticMemory:
    """Tombstone a fact. Deleting what is deleted already changes nothing."""
    with home_locked(row.home):
        row = SemanticMemory.all_objects.get(pk=row.pk)
        if row.is_deleted:
            return row
        if guard is not None:
            guard(row)
        row.mark_deleted(reason=reason, now=moment_of(row.home, row.key, now))
        row.save(update_fields=["is_deleted", "deleted_at", "deleted_reason", "updated_at"])
        document_delete(collection=collection_name(KIND, row.home_id), object_id=row.pk)
        event_record(
            home_id=row.home_id,
            event=MemoryEvent.Event.DELETE,
            memory_type=KIND,
            object_id=row.pk,
            old=row.value,
            reason=reason,
            origin=origin,
        )
    return row


def supersede(old: SemanticMemory, *, by: SemanticMemory, now: dt.datetime) -> None:
    """Tombstone a predecessor and point it to its successor, inside the caller's transaction."""
    old.mark_deleted(reason=SUPERSEDED, now=now)
    old.superseded_by = by
    old.save(update_fields=["is_deleted", "deleted_at", "deleted_reason", "superseded_by", "updated_at"])
    document_delete(collection=collection_name(KIND, old.home_id), object_id=old.pk)


def moment_of(home: Workspace, key: str, now: dt.datetime | None) -> dt.datetime:
    """When a change to a key takes place, asked for under the lock."""
    return moment_after(SemanticMemory.all_objects.filter(home=home, key=key), now)


def index_put(row: SemanticMemory, embedding: Embedding | None) -> None:
    document_put(
        collection=collection_name(KIND, row.home_id),
        object_id=row.pk,
        text=index_text(row.key, row.value),
        embedding=embedding,
    )


def _check(
    *,
    home: Workspace,
    key: str,
    value: Any,
    origin: Origin,
    confidence: float,
    override_screen: bool = False,
) -> Refusal | tuple[Any]:
    """The cleaned value, or the first rule that refuses the write; the refusal is audited."""
    try:
        cleaned = clean_value(value)
    except RecursionError:
        cleaned = object()
    refusal = (
        key_refusal(key, extra_prefixes=() if _has_builtin_prefix(key) else extra_key_prefixes())
        or value_refusal(cleaned)
        or merged_keys_refusal(value, cleaned)
        or confidence_refusal(confidence, is_explicit=origin.is_explicit)
    )
    if refusal is not None:
        text = f"{key} = {_quoted(cleaned)}"
        refusal_record(refusal, text, home=home, memory_type=KIND, origin=origin)
        return refusal
    payload = {"key": key, "value": cleaned, "confidence": float(confidence)}
    refusal = gate(
        f"{key}: {render_value(cleaned)}",
        home=home,
        memory_type=KIND,
        origin=origin,
        payload=payload,
        override_screen=override_screen,
    )
    return refusal or (cleaned,)


def _quoted(value: Any) -> str:
    """For the audit of a refusal: Python writes no number of more than 4,300 digits."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def _has_builtin_prefix(key: Any) -> bool:
    """Saves the read of the live setting for nearly every write."""
    return key_refusal(key) is None


def _live(write: _Write) -> SemanticMemory | None:
    return SemanticMemory.objects.filter(home=write.home, key=write.key).first()


def _claim_of(row: SemanticMemory | None) -> Claim | None:
    return None if row is None else Claim(row.value, row.source, row.confidence)


def _apply(
    write: _Write, existing: SemanticMemory | None, decision: Decision, embedding: Embedding | None
) -> SemanticResult:
    if existing is None:
        now = moment_of(write.home, write.key, write.now)
        row = _insert(write, embedding, now=now)
        _record(write, MemoryEvent.Event.CREATE, row)
        return SemanticResult("created", row)
    if decision == "replace":
        return _replace(write, existing, embedding)
    if decision == "skip":
        reason = skip_reason(Claim(existing.value, existing.source, existing.confidence), write.claim)
        _record(write, MemoryEvent.Event.CONFLICT_SKIP, existing, old=existing.value, reason=reason)
        return SemanticResult("refused", existing, "conflict_skip", reason)
    if decision == "confirm":
        existing.source, existing.author = str(write.origin.source), write.author
        existing.confidence = max(existing.confidence, write.confidence)
        existing.save(update_fields=["source", "author", "confidence", "updated_at"])
    reason = "confirmed" if decision == "confirm" else "same value"
    _record(write, MemoryEvent.Event.DEDUPED, existing, old=existing.value, reason=reason)
    return SemanticResult("unchanged", existing)


def _replace(write: _Write, old: SemanticMemory, embedding: Embedding | None) -> SemanticResult:
    # The old row goes first: one live row a key is a constraint of the table.
    # The link follows the new row's id.
    now = moment_of(write.home, write.key, write.now)
    old.mark_deleted(reason=SUPERSEDED, now=now)
    old.save(update_fields=["is_deleted", "deleted_at", "deleted_reason", "updated_at"])
    row = _insert(write, embedding, now=now)
    supersede(old, by=row, now=now)
    _record(write, MemoryEvent.Event.UPDATE, row, old=old.value)
    # After commit and robust: retiring is a heuristic of its own, and its failure must not undo the write.
    transaction.on_commit(
        lambda: retire_quoting_episodes(
            home=write.home,
            key=write.key,
            old_value=old.value,
            new_value=row.value,
            origin=write.origin,
        ),
        robust=True,
    )
    return SemanticResult("updated", row)


def _insert(write: _Write, embedding: Embedding | None, *, now: dt.datetime) -> SemanticMemory:
    row = SemanticMemory.objects.create(
        home=write.home,
        key=write.key,
        value=write.value,
        confidence=write.confidence,
        source=write.origin.source,
        author=write.author,
        conversation_id=write.origin.conversation_id,
        created_at=now,
        valid_from=now,
    )
    index_put(row, embedding)
    return row


def _record(
    write: _Write, event: MemoryEvent.Event, row: SemanticMemory, *, old: Any = None, reason: str = ""
) -> None:
    event_record(
        home_id=write.home.pk,
        event=event,
        memory_type=KIND,
        object_id=row.pk,
        old=old,
        new=write.value,
        reason=reason,
        origin=write.origin,
    )

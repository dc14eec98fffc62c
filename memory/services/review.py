"""The review queue: adding what heuristics would not decide alone, and deciding it. What accepting does is
looked up by
dotted path, because lessons stand above this app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from crewsite.security.events import event_record
from crewsite.security.models import MemoryEvent
from memory.constants import REVIEW_SUMMARY_MAX_CHARS
from memory.models import ReviewItem
from memory.results import ReviewOutcome

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from crewsite.security.origin import Origin

# By the item's kind, else by the layer its payload names.
# Each is `fn(*, item, origin, author) -> ReviewOutcome`.
ACCEPTORS: Final[dict[str, str]] = {
    ReviewItem.Kind.POSSIBLY_SUPERSEDES: "memory.services.accept.supersession_accept",
    "semantic": "memory.services.accept.semantic_accept",
    "episodic": "memory.services.accept.episodic_accept",
    "preferences": "memory.services.accept.document_accept",
    "projects": "memory.services.accept.document_accept",
    "lesson": "lessons.services.review_accept",
}


def review_add(
    *, home: Workspace, kind: ReviewItem.Kind | str, summary: str, payload: dict[str, Any]
) -> ReviewItem:
    """Queue an item. The same open question is asked once: an equal open item is returned instead."""
    summary = summary[:REVIEW_SUMMARY_MAX_CHARS]
    for item in ReviewItem.objects.filter(home=home, kind=kind, state=ReviewItem.State.OPEN, summary=summary):
        if item.payload == payload:
            return item
    return ReviewItem.objects.create(home=home, kind=kind, summary=summary, payload=payload)


def review_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """Do what the item proposes, then close it.
    Doing comes first: a crash between leaves the item open, not lost.
    """
    item = ReviewItem.objects.select_related("home").get(pk=item.pk)
    if item.state != ReviewItem.State.OPEN:
        return ReviewOutcome(ok=False, message=f"This item was {item.get_state_display()} before.")
    path = _acceptor(item)
    if path is None:
        return ReviewOutcome(ok=False, message="Nothing here knows how to accept this item.")
    outcome: ReviewOutcome = import_string(path)(item=item, origin=origin, author=author)
    if outcome.ok:
        _close(item, ReviewItem.State.ACCEPTED, origin)
    return outcome


def review_reject(*, item: ReviewItem, origin: Origin) -> ReviewOutcome:
    """Close the item and change no memory."""
    if not _close(item, ReviewItem.State.REJECTED, origin):
        return ReviewOutcome(ok=False, message="This item was decided before.")
    return ReviewOutcome(ok=True)


def _acceptor(item: ReviewItem) -> str | None:
    known: dict[str, str] = {**ACCEPTORS, **getattr(settings, "REVIEW_ACCEPTORS", {})}
    return known.get(item.kind) or known.get(str(item.payload.get("layer", "")))


def _close(item: ReviewItem, state: ReviewItem.State, origin: Origin) -> bool:
    closed = ReviewItem.objects.filter(pk=item.pk, state=ReviewItem.State.OPEN).update(
        state=state, decided_at=timezone.now(), decided_by=origin.actor, updated_at=timezone.now()
    )
    if closed:
        event_record(
            home_id=item.home_id,
            event=MemoryEvent.Event.UPDATE,
            memory_type="review",
            object_id=item.pk,
            old=ReviewItem.State.OPEN,
            new=state,
            reason=f"{item.kind} {state}",
            origin=origin,
        )
    return bool(closed)

"""The review queue: adding what heuristics would not decide alone, and deciding it. What accepting does is
looked up by dotted path, because lessons stand above this app.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from crewsite.security.events import event_record
from crewsite.security.models import MemoryEvent
from crewsite.security.text import fold
from memory.constants import REVIEW_SUMMARY_MAX_CHARS
from memory.models import ReviewItem
from memory.results import ReviewOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

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
REJECTORS: Final[dict[str, str]] = {
    ReviewItem.Kind.POSSIBLY_SUPERSEDES: "memory.services.accept.supersession_reject",
}
REOPENERS: Final[dict[str, str]] = {
    ReviewItem.Kind.POSSIBLY_SUPERSEDES: "memory.services.accept.supersession_reopen",
    "lesson": "lessons.services.review_reopen",
}
# Where the payload carries the words of a merge; acceptors store them instead of their own.
MERGED: Final = "merged"
# Where the payload of an accepted item keeps the row that accepting it changed; reopening undoes no other.
CHANGED: Final = "changed"


def review_add(
    *, home: Workspace, kind: ReviewItem.Kind | str, summary: str, payload: dict[str, Any]
) -> ReviewItem:
    """Queue an item. The same open question is asked once: an open item that differs in no more than the
    case of its letters is returned instead."""
    summary = summary[:REVIEW_SUMMARY_MAX_CHARS]
    waiting = ReviewItem.objects.filter(home=home, kind=kind, state=ReviewItem.State.OPEN)
    # Compared here: which letters are the same but for their case, each database decides for itself.
    alike = [pk for pk, said in waiting.values_list("pk", "summary") if fold(said) == fold(summary)]
    for item in waiting.filter(pk__in=alike):
        if _folded(item.payload) == _folded(payload):
            return item
    return ReviewItem.objects.create(home=home, kind=kind, summary=summary, payload=payload)


def _folded(payload: dict[str, Any]) -> str:
    return json.dumps(payload, sort_keys=True, ensure_ascii=False).casefold()


def review_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """Do what the item proposes and close it, both or neither. Accepting again changes nothing."""
    return _decide(item, _acceptor, origin=origin, author=author, state=ReviewItem.State.ACCEPTED)


def review_merge(*, item: ReviewItem, text: str, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """Accept in other words: what the item proposes is stored with this text, and what it replaces goes."""
    if not text.strip():
        return ReviewOutcome(ok=False, message="Merging needs the text that shall stand.")
    return _decide(
        item, _acceptor, origin=origin, author=author, state=ReviewItem.State.ACCEPTED, merged=text
    )


def review_reject(*, item: ReviewItem, origin: Origin) -> ReviewOutcome:
    """Close the item: what it proposes is not done, what it doubts stands. Again: nothing is changed."""
    return _decide(item, _rejector, origin=origin, author=None, state=ReviewItem.State.REJECTED)


def review_reopen(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """Take a decision back: what it wrote is undone first, then the item is open again.

    An acceptance is taken back where a layer knows how; a rejection wrote nothing and always is.
    """
    with transaction.atomic():
        stored = _locked(item)
        if stored.state == ReviewItem.State.OPEN:
            return ReviewOutcome(ok=True, message="It is open already; nothing was changed.", repeated=True)
        path = REOPENERS.get(stored.kind) or REOPENERS.get(str(stored.payload.get("layer", "")))
        if path is None and stored.state == ReviewItem.State.ACCEPTED:
            return ReviewOutcome(
                ok=False, message="What was stored can be changed or deleted on the Memory page."
            )
        if path is not None:
            outcome: ReviewOutcome = import_string(path)(item=stored, origin=origin, author=author)
            if not outcome.ok:
                return outcome
        old, stored.state = stored.state, ReviewItem.State.OPEN
        stored.decided_at, stored.decided_by = None, ""
        stored.payload = {k: v for k, v in stored.payload.items() if k not in {MERGED, CHANGED}}
        stored.save()
        _record(stored, old=old, new=stored.state, reason="reopened", origin=origin)
    return ReviewOutcome(ok=True)


def _decide(
    item: ReviewItem,
    act_of: Callable[[ReviewItem], str | None],
    *,
    origin: Origin,
    author: User | None,
    state: ReviewItem.State,
    merged: str = "",
) -> ReviewOutcome:
    with transaction.atomic():
        stored = _locked(item)
        if stored.state != ReviewItem.State.OPEN:
            said = f"This item was {stored.state} before" + (
                f" by {stored.decided_by}" if stored.decided_by else ""
            )
            return ReviewOutcome(
                ok=stored.state == state, message=f"{said}; nothing was changed.", repeated=True
            )
        if merged:
            stored.payload = {**stored.payload, MERGED: merged}
        path = act_of(stored)
        if path is None:
            return ReviewOutcome(ok=False, message="Nothing here knows how to accept this item.")
        try:
            outcome: ReviewOutcome = import_string(path)(item=stored, origin=origin, author=author)
        except KeyError as missing:
            return ReviewOutcome(ok=False, message=f"The item does not say its {missing}. Reject it.")
        if outcome.ok:
            _close(stored, state, origin, how=MERGED if merged else state, changed=outcome.row_id)
    return outcome


def _locked(item: ReviewItem) -> ReviewItem:
    """The item as it is, which nobody else decides until the transaction ends."""
    return ReviewItem.objects.select_for_update(of=("self",)).select_related("home").get(pk=item.pk)


def _rejector(item: ReviewItem) -> str:
    return REJECTORS.get(item.kind, "memory.services.accept.nothing_done")


def _acceptor(item: ReviewItem) -> str | None:
    return ACCEPTORS.get(item.kind) or ACCEPTORS.get(str(item.payload.get("layer", "")))


def _close(
    item: ReviewItem, state: ReviewItem.State, origin: Origin, *, how: str, changed: int | None
) -> None:
    item.state, item.decided_at, item.decided_by = state, timezone.now(), origin.actor
    if changed is not None:
        item.payload = {**item.payload, CHANGED: changed}
    item.save()
    _record(item, old=ReviewItem.State.OPEN, new=state, reason=f"{item.kind} {how}", origin=origin)


def _record(item: ReviewItem, *, old: str, new: str, reason: str, origin: Origin) -> None:
    event_record(
        home_id=item.home_id,
        event=MemoryEvent.Event.UPDATE,
        memory_type="review",
        object_id=item.pk,
        old=old,
        new=new,
        reason=reason,
        origin=origin,
    )

"""What accepting an item of the review queue does for layers 1, 2, 4 and 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.models import EpisodicMemory, PreferencesDocument, ProjectsDocument, ReviewItem
from memory.results import ReviewOutcome
from memory.services.documents import document_replace
from memory.services.episodic import episodic_delete, episodic_write
from memory.services.semantic import semantic_write

if TYPE_CHECKING:
    from crewsite.accounts.models import User
    from crewsite.security.origin import Origin


def supersession_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """The newer episode stands; the older one is tombstoned."""
    newer = EpisodicMemory.objects.filter(pk=item.payload.get("new"), home=item.home).first()
    older = EpisodicMemory.objects.filter(pk=item.payload.get("old"), home=item.home).first()
    if older is None:
        return ReviewOutcome(ok=True, message="The older episode is gone already.")
    if newer is None:
        return ReviewOutcome(
            ok=False, message="The newer episode was deleted, so the older one stays. Reject this item."
        )
    episodic_delete(row=older, origin=origin, reason="superseded")
    return ReviewOutcome(ok=True)


def semantic_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """Store the refused fact although screening refused it: an owner has read it and decided so."""
    payload = item.payload
    result = semantic_write(
        home=item.home,
        key=payload["key"],
        value=payload["value"],
        confidence=payload["confidence"],
        origin=origin,
        author=author,
        override_screen=True,
    )
    return ReviewOutcome(result.outcome != "refused", result.message)


def episodic_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    payload = item.payload
    result = episodic_write(
        home=item.home,
        text=payload["text"],
        importance=payload["importance"],
        tags=payload["tags"],
        origin=origin,
        author=author,
        override_screen=True,
    )
    return ReviewOutcome(result.outcome != "refused", result.message)


def document_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    model = PreferencesDocument if item.payload["layer"] == "preferences" else ProjectsDocument
    result = document_replace(
        model=model,  # type: ignore[type-var]
        workspace=item.home,
        text=item.payload["text"],
        origin=origin,
        author=author,
        override_screen=True,
    )
    return ReviewOutcome(result.outcome != "refused", result.message)

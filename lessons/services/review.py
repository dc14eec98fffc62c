"""Accepting a lesson that waited in the review queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lessons.services.write import lesson_write
from memory.results import ReviewOutcome
from memory.services.review import MERGED

if TYPE_CHECKING:
    from crewsite.accounts.models import User
    from crewsite.security.origin import Origin
    from memory.models import ReviewItem


def review_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """Teach the waiting lesson. An owner has read it, so screening does not refuse it again."""
    payload = item.payload
    result = lesson_write(
        home=item.home,
        rule=payload.get(MERGED) or payload["rule"],
        negative=payload.get("negative", ""),
        category=payload.get("category", "knowledge"),
        scope=payload.get("scope", ""),
        pinned=bool(payload.get("pinned", False)),
        origin=origin,
        author=author,
        override_screen=True,
    )
    return ReviewOutcome(result.outcome != "refused", result.message)

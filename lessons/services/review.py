"""Accepting a lesson that waited in the review queue, and taking that back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lessons.models import Lesson
from lessons.rules import draft_of
from lessons.services.change import lesson_undo
from lessons.services.write import lesson_write
from memory.results import ReviewOutcome
from memory.services.review import CHANGED, MERGED

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
    taught = result.row if result.outcome in {"inserted", "enriched", "replaced"} else None
    return ReviewOutcome(
        result.outcome != "refused", result.message, row_id=taught.pk if taught is not None else None
    )


def review_reopen(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """Undo the lesson that accepting taught, as long as it reads as it was taught; what it took the place of
    stands again. A rule that was there before is none that accepting taught."""
    payload = item.payload
    if CHANGED not in payload:
        return ReviewOutcome(ok=True)
    draft = draft_of(
        rule=payload.get(MERGED) or payload["rule"],
        scope=payload.get("scope", ""),
        category="knowledge",
        negative="",
        pinned=False,
    )
    taught = Lesson.objects.in_home(item.home).select_related("home").filter(pk=payload[CHANGED])
    row = taught.filter(key=draft.key).first()
    if row is None or not lesson_undo(row=row, origin=origin).undone:
        return ReviewOutcome(ok=False, message="The lesson has changed since; nothing was undone.")
    return ReviewOutcome(ok=True)

"""Accepting a lesson that waited in the review queue, and taking that back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lessons.models import Lesson
from lessons.rules import draft_of
from lessons.services.change import lesson_edit, lesson_undo
from lessons.services.write import lesson_write
from memory.results import ReviewOutcome
from memory.services.review import CHANGED, MERGED

if TYPE_CHECKING:
    from crewsite.accounts.models import User
    from crewsite.security.origin import Origin
    from lessons.rules import Draft
    from memory.models import ReviewItem


def review_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """Teach the waiting lesson, or word the one anew that it was to change. An owner has read it, so
    screening does not refuse it again."""
    wording = _wording(item)
    edited = _live(item, "edits")
    if edited is not None:
        before = _said(edited)
        change = lesson_edit(row=edited, **wording, origin=origin, author=author, override_screen=True)
        reworded = change.outcome == "changed" and before != _said(change.row)
        row_id = edited.pk if reworded else None
        return ReviewOutcome(change.outcome != "refused", change.message, row_id=row_id)
    result = lesson_write(home=item.home, **wording, origin=origin, author=author, override_screen=True)
    if result.outcome == "unchanged":
        return ReviewOutcome(ok=True, message="Known already; nothing was added.")
    taught = result.row.pk if result.row is not None and result.outcome != "refused" else None
    return ReviewOutcome(result.outcome != "refused", result.message, row_id=taught)


def review_reopen(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """Undo the lesson that accepting taught, as long as it reads as it was taught; what it took the place of
    stands again. A rule that was there before is none that accepting taught."""
    if CHANGED not in item.payload:
        return ReviewOutcome(ok=True)
    draft = draft_of(**_wording(item))
    row = _live(item, CHANGED)
    if row is None:
        undone = False
    elif item.payload.get("edits") == row.pk:
        undone = _said(row) == _said(draft) and _worded_back(row, origin)
    else:
        undone = row.key == draft.key and lesson_undo(row=row, origin=origin).undone
    message = "" if undone else "The lesson has changed since; nothing was undone."
    return ReviewOutcome(ok=undone, message=message)


def _wording(item: ReviewItem) -> dict[str, Any]:
    payload = item.payload
    return {
        "rule": payload.get(MERGED) or payload["rule"],
        "negative": payload.get("negative", ""),
        "category": payload.get("category", "knowledge"),
        "scope": payload.get("scope", ""),
        "pinned": bool(payload.get("pinned", False)),
    }


def _said(lesson: Lesson | Draft) -> tuple[str, str, str, str]:
    return lesson.rule, lesson.negative, lesson.category, lesson.scope


def _live(item: ReviewItem, name: str) -> Lesson | None:
    """The lesson that an item names so, as long as it is in force."""
    rows = Lesson.objects.in_home(item.home).select_related("home")
    return rows.filter(pk=item.payload[name]).first() if name in item.payload else None


def _worded_back(row: Lesson, origin: Origin) -> bool:
    """To the wording that gave way as this one came."""
    past = Lesson.all_objects.filter(superseded_by=row, is_deleted=True, deleted_at=row.valid_from)
    before = past.first()
    if before is None:
        return False
    change = lesson_edit(
        row=row,
        rule=before.rule,
        negative=before.negative,
        category=before.category,
        scope=before.scope,
        pinned=row.pinned,
        origin=origin,
        author=before.author,
        override_screen=True,
    )
    return change.outcome == "changed"

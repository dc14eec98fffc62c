"""Changing lessons that are there: remove, undo, restore, edit, pin. Nothing is erased; each step leaves
its event.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from crewsite.embeddings.service import Embedding, embed_document
from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Source
from crewsite.security.text import fold
from lessons.constants import CONFIDENCE
from lessons.dedup import decide
from lessons.models import Lesson
from lessons.results import LessonChange, LessonRemoval, LessonUndo
from lessons.rules import Draft, draft_of
from lessons.services.index import compare, index_put
from lessons.services.record import (
    EDITED,
    keep_wording,
    live_rules,
    moment_of,
    record,
    revive,
    supersede,
    tombstone,
)
from lessons.services.write import lesson_refusal
from memory.services.locks import home_locked

if TYPE_CHECKING:
    import datetime as dt

    from crewsite.accounts.models import User, Workspace
    from crewsite.rows import RowGuard
    from crewsite.security.origin import Origin

_CITATION: Final = re.compile(r"\[?(?:les:|#)(\d{1,18})\]?", re.IGNORECASE)


def lesson_delete(
    *,
    row: Lesson,
    origin: Origin,
    reason: str = "deleted",
    now: dt.datetime | None = None,
    guard: RowGuard | None = None,
) -> Lesson:
    """Tombstone one lesson. Deleting what is deleted already changes nothing."""
    with home_locked(row.home):
        row = Lesson.all_objects.select_related("home").get(pk=row.pk)
        if not row.is_deleted:
            if guard is not None:
                guard(row)
            event = MemoryEvent.Event.DELETE
            now = moment_of(row.home, now, ids=[row.pk])
            tombstone(row, origin=origin, reason=reason, now=now, event=event)
    return row


def lesson_remove(
    *, home: Workspace, query: str, origin: Origin, all: bool = False, now: dt.datetime | None = None
) -> LessonRemoval:
    """Tombstone the live lessons that contain the text, or the one lesson an id (`les:12`, `#12`) names.

    A text that meets several lessons removes none of them unless `all` is set: they come back as
    candidates.
    """
    found = lessons_matching(home, query)
    if len(found) > 1 and not all:
        return LessonRemoval(candidates=tuple(found))
    return LessonRemoval(removed=tuple(lesson_delete(row=row, origin=origin, now=now) for row in found))


def lessons_matching(home: Workspace, query: str) -> list[Lesson]:
    """The live lessons that contain the text, the latest first, or the one an id names."""
    live = Lesson.objects.in_home(home).select_related("home")
    named = _CITATION.fullmatch(query.strip())
    if named:
        return list(live.filter(pk=int(named[1])))
    wanted = fold(query)
    return (
        [row for row in live.order_by("-updated_at", "-pk") if wanted in fold(row.rendered)] if wanted else []
    )


def lesson_undo(*, row: Lesson, origin: Origin, now: dt.datetime | None = None) -> LessonUndo:
    """Take a lesson back as if it had not been taught: it is tombstoned, and what it superseded is live
    again.
    """
    # Embedded before the lock; a lesson superseded in between waits for the backfill.
    replaced = Lesson.all_objects.filter(superseded_by=row, is_deleted=True)
    embeddings = {old.pk: embed_document(old.rendered) for old in replaced}
    with home_locked(row.home):
        row = Lesson.all_objects.select_related("home").get(pk=row.pk)
        if row.is_deleted:
            return LessonUndo(undone=False)
        # Only what gave way in this life of the lesson: an earlier life's tombstones are history.
        gave_way = list(
            Lesson.all_objects.filter(
                superseded_by=row, is_deleted=True, deleted_at__gte=row.valid_from
            ).order_by("-deleted_at", "pk")
        )
        now = moment_of(row.home, now, keys=[old.key for old in gave_way], ids=[row.pk])
        tombstone(row, origin=origin, reason="undone", now=now, event=MemoryEvent.Event.DELETE)
        taken = set(Lesson.objects.in_home(row.home).values_list("key", flat=True))
        restored = []
        for old in gave_way:
            if old.key in taken:
                continue
            taken.add(old.key)
            reason = f"undone les:{row.pk}"
            _bring_back(old, origin, reason=reason, embedding=embeddings.get(old.pk), now=now)
            restored.append(old)
    return LessonUndo(undone=True, restored=tuple(restored))


def lesson_restore(*, row: Lesson, origin: Origin, now: dt.datetime | None = None) -> LessonChange:
    """Make a tombstoned lesson live again: screened and compared anew. What took its place gives way, also
    where it says all this one says and more.
    """
    home, draft = row.home, _draft_of_row(row)
    refusal = lesson_refusal(draft, home=home, origin=origin)
    if refusal is not None:
        return LessonChange("refused", row, refusal.code, refusal.message)
    known = compare(home, draft, live_rules(home, draft.scope))
    with home_locked(home):
        row = Lesson.all_objects.select_related("home").get(pk=row.pk)
        if not row.is_deleted:
            return LessonChange("unchanged", row)
        successor = _successor(row)
        rules = live_rules(home, row.scope)
        others = [rule for rule in rules if successor is None or rule.id != successor.pk]
        decision = decide(
            row.rule,
            others,
            is_explicit=origin.is_explicit,
            cosines=known.cosines,
            thresholds=known.thresholds,
        )
        if decision.keeper is not None:
            return _not_restored(row, "duplicate", f"les:{decision.keeper} says it already.", origin)
        gives_way = decision.superseded if successor is None else (successor.pk, *decision.superseded)
        replaced = ", ".join(f"les:{pk}" for pk in gives_way)
        is_taught = successor is not None and successor.source == Source.USER_EXPLICIT
        if decision.kind == "refused" or (is_taught and not origin.is_explicit):
            message = f"It would replace {replaced}, taught by a person."
            return _not_restored(row, "explicit_wins", message, origin)
        now = moment_of(home, now, keys=[row.key], ids=gives_way)
        # First, since the two may have one key: the same rule, with what not to do instead.
        supersede(gives_way, by=row, origin=origin, now=now)
        _bring_back(row, origin, reason="restored", embedding=known.embedding, now=now)
    return LessonChange("changed", row, message=f"It takes the place of {replaced}." if replaced else "")


def lesson_edit(
    *,
    row: Lesson,
    rule: str,
    origin: Origin,
    negative: str = "",
    category: str = Lesson.Category.KNOWLEDGE,
    scope: str = "",
    pinned: bool = False,
    author: User | None = None,
    now: dt.datetime | None = None,
    guard: RowGuard | None = None,
    override_screen: bool = False,
) -> LessonChange:
    """Change a live lesson in place, screened like a new one; the old wording stays as a superseded row."""
    draft = draft_of(rule=rule, negative=negative, category=category, scope=scope, pinned=pinned)
    refusal = lesson_refusal(draft, home=row.home, origin=origin, override_screen=override_screen, edits=row)
    if refusal is not None:
        return LessonChange("refused", row, refusal.code, refusal.message)
    embedding = embed_document(draft.rendered)
    with home_locked(row.home):
        row = Lesson.all_objects.select_related("home").get(pk=row.pk)
        if row.is_deleted:
            return LessonChange("refused", row, "deleted", "The lesson is deleted; restore it first.")
        if guard is not None:
            guard(row)
        if draft == _draft_of_row(row):
            return LessonChange("unchanged", row)
        rewords = replace(draft, pinned=row.pinned) != _draft_of_row(row)
        if rewords and row.source == Source.USER_EXPLICIT and not origin.is_explicit:
            return LessonChange("refused", row, "explicit_wins", "Only a person may reword what one taught.")
        twin = Lesson.objects.in_home(row.home).filter(key=draft.key).exclude(pk=row.pk).first()
        if twin is not None:
            return LessonChange("refused", row, "duplicate", f"les:{twin.pk} says it already.")
        before = describe(_draft_of_row(row))
        if rewords:
            keep_wording(row, now=moment_of(row.home, now, keys=[draft.key], ids=[row.pk]))
            row.author, row.times_applied = author, _applied_before(row, draft)
        row.key, row.rule, row.negative = draft.key, draft.rule, draft.negative
        row.category, row.scope, row.pinned = draft.category, draft.scope, draft.pinned
        if origin.is_explicit:
            row.source, row.confidence = Source.USER_EXPLICIT, CONFIDENCE[Source.USER_EXPLICIT]
        row.save()
        reason = EDITED if rewords else "pinned" if row.pinned else "unpinned"
        record(row, MemoryEvent.Event.UPDATE, origin, old=before, new=describe(draft), reason=reason)
        index_put(row, embedding)
    return LessonChange("changed", row)


def lesson_pin(*, row: Lesson, pinned: bool, origin: Origin) -> LessonChange:
    """Pinned lessons are the first in every prompt, before what people taught last."""
    with home_locked(row.home):
        row = Lesson.all_objects.select_related("home").get(pk=row.pk)
        if row.is_deleted:
            return LessonChange("refused", row, "deleted", "The lesson is deleted; restore it first.")
        if row.pinned == pinned:
            return LessonChange("unchanged", row)
        row.pinned = pinned
        row.save(update_fields=["pinned"])
        reason = "pinned" if pinned else "unpinned"
        record(row, MemoryEvent.Event.UPDATE, origin, new=row.rendered, reason=reason)
    return LessonChange("changed", row)


def _successor(row: Lesson) -> Lesson | None:
    """The live lesson that took the place of this one, or of what took its place."""
    seen = {row.pk}
    while row.superseded_by_id is not None and row.superseded_by_id not in seen:
        seen.add(row.superseded_by_id)
        row = Lesson.all_objects.get(pk=row.superseded_by_id)
        if not row.is_deleted:
            return row
    return None


def _applied_before(row: Lesson, draft: Draft) -> int:
    """How often the row was applied when it had this wording last."""
    worded_so = Lesson.all_objects.filter(superseded_by=row, key=draft.key, negative=draft.negative)
    return worded_so.order_by("-deleted_at").values_list("times_applied", flat=True).first() or 0


def describe(draft: Draft) -> str:
    """A lesson's whole wording on one line, as audit events keep it."""
    extras = [draft.category, f"scope {draft.scope}" if draft.scope else "", "pinned" if draft.pinned else ""]
    return f"{draft.rendered} ({', '.join(extra for extra in extras if extra)})"


def _draft_of_row(row: Lesson) -> Draft:
    return Draft(row.rule, row.negative, row.category, row.scope, row.pinned)


def _not_restored(row: Lesson, code: str, message: str, origin: Origin) -> LessonChange:
    record(row, MemoryEvent.Event.REFUSED, origin, new=row.rendered, reason=f"{code}: {message}")
    return LessonChange("refused", row, code, message)


def _bring_back(
    row: Lesson, origin: Origin, *, reason: str, embedding: Embedding | None, now: dt.datetime
) -> None:
    revive(row, now=now)
    index_put(row, embedding)
    record(row, MemoryEvent.Event.RESTORE, origin, new=row.rendered, reason=reason)

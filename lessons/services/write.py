"""The one way a lesson comes in: screen, exact, substring, topic overlap, embedding (chapter 02, 2.5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Source
from crewsite.security.text import fold
from lessons.constants import CONFIDENCE
from lessons.dedup import Decision, decide
from lessons.models import Lesson
from lessons.results import LessonResult
from lessons.rules import Draft, draft_of, draft_refusal, volatile_refusal
from lessons.services.index import KIND, Comparison, compare, index_put
from lessons.services.record import SUPERSEDED, TOMBSTONE_FIELDS, live_rules, moment_of, record, supersede
from memory.models import ReviewItem
from memory.results import Refusal
from memory.services.gate import gate, origin_as_json, refusal_record
from memory.services.locks import home_locked
from memory.services.review import review_add

if TYPE_CHECKING:
    import datetime as dt

    from crewsite.accounts.models import User, Workspace
    from crewsite.security.origin import Origin


@dataclass(frozen=True, slots=True)
class _Write:
    """A write that has passed every check which needs no row."""

    home: Workspace
    draft: Draft
    origin: Origin
    author: User | None
    preserve: bool
    now: dt.datetime | None


def lesson_write(
    *,
    home: Workspace,
    rule: str,
    origin: Origin,
    negative: str = "",
    category: str = Lesson.Category.KNOWLEDGE,
    scope: str = "",
    pinned: bool = False,
    author: User | None = None,
    preserve: bool = False,
    override_screen: bool = False,
    now: dt.datetime | None = None,
) -> LessonResult:
    """Teach a rule. What it makes superfluous is superseded in the same transaction, after the new row is
    in.

    `preserve` is for imports: a rule that is there stays as it is and nothing gives way. `override_screen`
    stores what screening refuses, because an owner decided so; never a credential.
    """
    draft = draft_of(rule=rule, negative=negative, category=category, scope=scope, pinned=pinned)
    refusal = lesson_refusal(draft, home=home, origin=origin, override_screen=override_screen)
    if refusal is not None:
        return LessonResult("refused", code=refusal.code, message=refusal.message)
    write = _Write(home, draft, origin, author, preserve, now)
    comparison = compare(home, draft, live_rules(home, draft.scope))
    with home_locked(home):
        decision = decide(
            draft.rule,
            live_rules(home, draft.scope),
            is_explicit=origin.is_explicit,
            cosines=comparison.cosines,
            thresholds=comparison.thresholds,
        )
        return _apply(write, _preserving(decision) if preserve else decision, comparison)


def lesson_refusal(
    draft: Draft,
    *,
    home: Workspace,
    origin: Origin,
    override_screen: bool = False,
    edits: Lesson | None = None,
) -> Refusal | None:
    """Why a draft may not become a lesson of this home, or the new wording of the one it `edits`; None if it
    may. A refusal is audited; an explicit one that screening caused waits in the review queue.
    """
    refusal = draft_refusal(draft) or volatile_refusal(draft.rule)
    if refusal is not None:
        refusal_record(refusal, draft.rendered, home=home, memory_type=KIND, origin=origin)
        return refusal
    return gate(
        "\n".join(part for part in (draft.rendered, draft.scope) if part),
        home=home,
        memory_type=KIND,
        origin=origin,
        payload=_payload(draft) if edits is None else _payload(draft) | _edit_of(edits),
        override_screen=override_screen,
    )


def _preserving(decision: Decision) -> Decision:
    """An import replaces nothing: what would supersede stands beside what is there."""
    return decision if decision.kind in {"exact", "covered"} else Decision("insert")


def _apply(write: _Write, decision: Decision, comparison: Comparison) -> LessonResult:
    if decision.kind == "refused":
        return _refuse(write, decision)
    if decision.keeper is not None:
        keeper = Lesson.objects.select_related("home").get(pk=decision.keeper)
        return _confirm(write, keeper, decision, comparison)
    now = moment_of(write.home, write.now, keys=[write.draft.key], ids=decision.superseded)
    row = _insert(write, decision, comparison, now=now)
    outcome = {"insert": "inserted", "enrich": "enriched", "replace": "replaced"}[decision.kind]
    return LessonResult(outcome, row, superseded=decision.superseded)  # type: ignore[arg-type]


def _insert(write: _Write, decision: Decision, comparison: Comparison, *, now: dt.datetime) -> Lesson:
    draft, origin = write.draft, write.origin
    inherits_pin = Lesson.all_objects.filter(pk__in=decision.superseded, pinned=True).exists()
    row = Lesson.objects.create(
        home=write.home,
        key=draft.key,
        rule=draft.rule,
        negative=draft.negative,
        category=draft.category,
        scope=draft.scope,
        pinned=draft.pinned or inherits_pin,
        confidence=CONFIDENCE[origin.source],
        source=origin.source,
        author=write.author,
        conversation_id=origin.conversation_id,
        created_at=now,
        valid_from=now,
    )
    record(row, MemoryEvent.Event.CREATE, origin, new=row.rendered, reason=decision.step)
    index_put(row, comparison.embedding)
    supersede(decision.superseded, by=row, origin=origin, now=now)
    return row


def _confirm(write: _Write, row: Lesson, decision: Decision, comparison: Comparison) -> LessonResult:
    """The rule is there already. An exact repetition refreshes it, or adds what not to do instead."""
    draft, exact = write.draft, decision.kind == "exact"
    may_change = not write.preserve and (write.origin.is_explicit or row.source != Source.USER_EXPLICIT)
    if exact and may_change and draft.negative and fold(draft.negative) != fold(row.negative):
        return _enrich(write, row, comparison)
    if exact and may_change:
        _refresh(row, write)
    if exact and not write.preserve:
        row.save(update_fields=["confidence", "pinned", "source", "author", "updated_at"])
    reason = f"{decision.step} duplicate"
    record(row, MemoryEvent.Event.DEDUPED, write.origin, new=draft.rendered, reason=reason)
    return LessonResult("unchanged", row)


def _enrich(write: _Write, old: Lesson, comparison: Comparison) -> LessonResult:
    """The same rule with more to it is a row of its own, so that undoing it brings the old wording back."""
    # The old row goes first: one live row a key is a constraint of the table. The link follows.
    now = moment_of(write.home, write.now, keys=[old.key])
    old.mark_deleted(reason=SUPERSEDED, now=now)
    old.save(update_fields=TOMBSTONE_FIELDS)
    kept = old.category if write.draft.category == Lesson.Category.KNOWLEDGE else write.draft.category
    write = replace(write, draft=replace(write.draft, category=kept))
    decision = Decision("enrich", "exact", superseded=(old.pk,))
    row = _insert(write, decision, comparison, now=now)
    return LessonResult("enriched", row, superseded=decision.superseded)


def _refresh(row: Lesson, write: _Write) -> None:
    """A person's word makes a rule explicit; nothing makes it less sure or unpins it."""
    row.confidence = max(row.confidence, CONFIDENCE[write.origin.source])
    row.pinned = row.pinned or write.draft.pinned
    if write.origin.is_explicit:
        row.source = write.origin.source
        row.author = write.author or row.author


def _refuse(write: _Write, decision: Decision) -> LessonResult:
    """A rule a person taught gives way to a person only; the proposal waits for one."""
    kept = ", ".join(f"les:{pk}" for pk in decision.superseded)
    refusal = Refusal(
        "explicit_wins", f"It would replace {kept}, taught by a person. Only a person may do that."
    )
    row = Lesson.objects.get(pk=decision.superseded[0])
    record(
        row,
        MemoryEvent.Event.CONFLICT_SKIP,
        write.origin,
        old=row.rendered,
        new=write.draft.rendered,
        reason=refusal.message[:200],
    )
    review_add(
        home=write.home,
        kind=ReviewItem.Kind.PROPOSED_LESSON,
        summary=f"{write.draft.rule} (instead of {kept})",
        payload={
            "layer": KIND,
            "origin": origin_as_json(write.origin),
            "would_supersede": list(decision.superseded),
            **_payload(write.draft),
        },
    )
    return LessonResult("refused", code=refusal.code, message=refusal.message)


def _edit_of(row: Lesson) -> dict[str, Any]:
    return {"edits": row.pk, "would_supersede": [row.pk]}


def _payload(draft: Draft) -> dict[str, Any]:
    return {
        "rule": draft.rule,
        "negative": draft.negative,
        "category": draft.category,
        "scope": draft.scope,
        "pinned": draft.pinned,
    }

"""Reading lessons where values come back: what reaches a prompt, and what answers a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crewsite.search.collections import collection_name
from crewsite.search.fusion import scale01, weighted
from crewsite.search.service import candidates
from lessons.constants import (
    KEYWORD_WEIGHT,
    LEFT_OUT_NAMED,
    MAX_RENDERED,
    SEARCH_MIN_POOL,
    SEARCH_POOL_PER_HIT,
    VECTOR_WEIGHT,
)
from lessons.models import Lesson
from lessons.scopes import scopes_of

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

# `LessonQuerySet.reaching` and `by_rank` in plain words: SQLite takes an order from the index only where the
# statement has the index's own text, without parameters in it.
_REACHING: Final = "FROM lessons_lesson WHERE home_id = %s AND NOT is_deleted AND scope IN ({scopes})"
_ORDER: Final = (
    "ORDER BY pinned DESC, CASE WHEN source = 'user_explicit' THEN 0 ELSE 1 END, updated_at DESC, id DESC"
)
_BY_RANK: Final = (
    f"SELECT id, rule, negative, (SELECT COUNT(*) {_REACHING}) AS total FROM lessons_lesson"  # noqa: S608 - ours
    f" WHERE id IN (SELECT id {_REACHING} {_ORDER} LIMIT %s) {_ORDER}"
)


@dataclass(frozen=True, slots=True)
class ContextLessons:
    """`rows` are the first of `total` lessons in force, by rank, with what a prompt says of them; a few more
    than it takes, to name those left out.
    """

    rows: tuple[Lesson, ...]
    total: int


@dataclass(frozen=True, slots=True)
class LessonHit:
    row: Lesson
    score: float
    legs: tuple[str, ...]
    cosine: float | None = None


def lessons_for_context(home: Workspace, *, project: str) -> ContextLessons:
    """One query, whatever the number of lessons. Which come first is taken from the index alone."""
    scopes = ["", *scopes_of(project)]
    statement = _BY_RANK.replace("{scopes}", ", ".join(["%s"] * len(scopes)))
    reaching = [home.pk, *scopes]
    rows = tuple(Lesson.objects.raw(statement, [*reaching, *reaching, MAX_RENDERED + LEFT_OUT_NAMED]))
    return ContextLessons(rows, rows[0].total if rows else 0)  # type: ignore[attr-defined]


def lesson_search(*, home: Workspace, query: str, limit: int = 20) -> list[LessonHit]:
    """Lessons of a home that answer a question, most relevant first."""
    found = candidates(
        collection=collection_name("lesson", home.pk),
        query=query,
        k=max(SEARCH_MIN_POOL, SEARCH_POOL_PER_HIT * limit),
    )
    # Most of the pool never comes near a place: rows are read of those that do.
    live = Lesson.objects.in_home(home).filter(pk__in=[hit.object_id for hit in found.hits])
    known = set(live.values_list("pk", flat=True))
    hits = {hit.object_id: hit for hit in found.hits if hit.object_id in known}
    cosines = {pk: hit.cosine for pk, hit in hits.items() if hit.cosine is not None}
    words = {pk: hit.keyword for pk, hit in hits.items() if hit.keyword is not None}
    legs = [(VECTOR_WEIGHT, scale01(cosines)), (KEYWORD_WEIGHT, words)]
    scores = weighted([leg for leg in legs if leg[1]])
    # A lesson that waits for its vector is not worse than one whose vector says nothing.
    scores |= {pk: score for pk, score in words.items() if pk not in cosines}
    best = sorted(scores, key=lambda pk: (-scores[pk], -pk))[:limit]
    rows = live.in_bulk(best)
    return [
        LessonHit(
            rows[pk],
            scores[pk],
            tuple(leg for leg, found in (("vector", cosines), ("keyword", words)) if pk in found),
            cosines.get(pk),
        )
        for pk in best
        if pk in rows
    ]

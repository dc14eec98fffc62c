"""Reading lessons where values come back: what reaches a prompt, and what answers a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace


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


def lessons_for_context(home: Workspace, *, project: str) -> ContextLessons:
    """Two queries, whatever the number of lessons. Which come first is taken from the index alone."""
    reaching = Lesson.objects.in_home(home).reaching(project)
    first = reaching.by_rank().values("pk")[: MAX_RENDERED + LEFT_OUT_NAMED]
    rows = Lesson.objects.filter(pk__in=first).by_rank().only("rule", "negative")
    return ContextLessons(tuple(rows), reaching.count())


def lesson_search(*, home: Workspace, query: str, limit: int = 20) -> list[LessonHit]:
    """Lessons of a home that answer a question, most relevant first."""
    found = candidates(
        collection=collection_name("lesson", home.pk),
        query=query,
        k=max(SEARCH_MIN_POOL, SEARCH_POOL_PER_HIT * limit),
    )
    rows = Lesson.objects.in_home(home).in_bulk([hit.object_id for hit in found.hits])
    hits = {hit.object_id: hit for hit in found.hits if hit.object_id in rows}
    cosines = {pk: hit.cosine for pk, hit in hits.items() if hit.cosine is not None}
    words = {pk: hit.keyword for pk, hit in hits.items() if hit.keyword is not None}
    legs = [(VECTOR_WEIGHT, scale01(cosines)), (KEYWORD_WEIGHT, words)]
    scores = weighted([leg for leg in legs if leg[1]])
    # A lesson that waits for its vector is not worse than one whose vector says nothing.
    scores |= {pk: score for pk, score in words.items() if pk not in cosines}
    best = sorted(scores, key=lambda pk: (-scores[pk], -pk))[:limit]
    return [
        LessonHit(
            rows[pk],
            scores[pk],
            tuple(leg for leg, found in (("vector", cosines), ("keyword", words)) if pk in found),
        )
        for pk in best
    ]

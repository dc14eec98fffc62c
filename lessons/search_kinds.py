"""Lessons as a kind of the one search box: what is indexed of them, and how they answer."""

from __future__ import annotations

from crewsite.search.collections import collection_name
from crewsite.search.kinds import Asker, Reader, RecallHit
from lessons.models import Lesson
from lessons.selectors import LessonHit, lesson_search
from memory.nearness import worth_telling


class LessonKind:
    name = "lesson"
    prefix = "les"

    def documents(self, after_id: int, limit: int) -> list[tuple[int, str, str]]:
        """Live rows after an id, in id order: (object id, collection, text)."""
        rows = Lesson.objects.filter(pk__gt=after_id).order_by("pk")[:limit]
        return [(row.pk, collection_name(self.name, row.home_id), row.rendered) for row in rows]

    def count(self) -> int:
        return Lesson.objects.count()

    def recall(
        self, *, query: str, workspace: Reader, limit: int, asker: Asker | None = None
    ) -> list[RecallHit]:
        hits = lesson_search(home=workspace.home, query=query, limit=limit)
        return [self._hit(hit) for hit in worth_telling(query, hits)]

    def _hit(self, hit: LessonHit) -> RecallHit:
        return RecallHit(
            kind=self.name,
            object_id=hit.row.pk,
            citation=hit.row.citation,
            text=hit.row.rendered,
            at=hit.row.updated_at,
            score=hit.score,
            legs=hit.legs,
        )

"""What `crew learn` does with this machine's database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.management.base import CommandError

from crewsite.accounts.console import cli_origin, row_number, wait_for_embedder
from lessons.models import Lesson

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from lessons.results import LessonChange, LessonRemoval, LessonResult

NO_LESSON = "There is no {!r}. Ids look like les:12."


@dataclass(frozen=True, slots=True)
class LessonList:
    rows: list[Lesson]
    total: int


class LocalLessons:
    def __init__(self, workspace: Workspace) -> None:
        self._home = workspace.home

    def add(self, *, rule: str, negative: str, category: str, scope: str, pinned: bool) -> LessonResult:
        from lessons.services import lesson_write

        wait_for_embedder()
        return lesson_write(
            home=self._home,
            rule=rule,
            negative=negative,
            category=category,
            scope=scope,
            pinned=pinned,
            origin=cli_origin(),
        )

    def list(self, *, limit: int, deleted: bool) -> LessonList:
        rows = Lesson.all_objects.in_home(self._home)
        rows = (
            rows.deleted().restorable().order_by("-deleted_at", "-pk") if deleted else rows.live().by_rank()
        )
        return LessonList(list(rows[:limit]), rows.count())

    def remove(self, *, query: str, all: bool) -> LessonRemoval:
        from lessons.services import lesson_remove

        return lesson_remove(home=self._home, query=query, origin=cli_origin(), all=all)

    def restore(self, *, citation: str) -> LessonChange:
        from lessons.services import lesson_restore

        wait_for_embedder()
        number = lesson_number(citation)
        row = Lesson.all_objects.in_home(self._home).filter(pk=number).first() if number else None
        if row is None:
            raise CommandError(NO_LESSON.format(citation))
        return lesson_restore(row=row, origin=cli_origin())


def lesson_number(citation: str) -> int | None:
    """Of `les:12`, `[les:12]`, `#12` or `12`."""
    name = citation.strip("[]").lower()
    return row_number(name.removeprefix("les:").removeprefix("#"))

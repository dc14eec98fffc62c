"""What `crew learn` does on another site, over its REST API: the same results, whose rows are not saved
here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError
from django.utils.dateparse import parse_datetime

from crewsite.accounts.server import Refusal, api_call, pages
from crewsite.security.origin import Source
from lessons.management.local import NO_LESSON, LessonList, lesson_number
from lessons.models import Lesson
from lessons.results import LessonChange, LessonRemoval, LessonResult

if TYPE_CHECKING:
    from crewsite.accounts.server import Server

FIELDS = ("id", "rule", "negative", "category", "scope", "confidence", "source", "pinned", "deleted_reason")
REFUSED = 422
MISSING = 404
# The order of prompts is worked out here, from all lessons in force: no home has more.
ALL_LESSONS = 100_000


class RemoteLessons:
    def __init__(self, server: Server) -> None:
        self._server = server

    def add(self, *, rule: str, negative: str, category: str, scope: str, pinned: bool) -> LessonResult:
        body = {"rule": rule, "negative": negative, "category": category, "scope": scope, "pinned": pinned}
        try:
            answer = api_call(self._server, "POST", "/lessons/", body=body)
        except Refusal as refusal:
            if refusal.status != REFUSED:
                raise
            return LessonResult("refused", code=refusal.code, message=str(refusal))
        return LessonResult(answer["outcome"], _row(answer["lesson"]), tuple(answer["superseded"]))

    def list(self, *, limit: int, deleted: bool) -> LessonList:
        if deleted:  # in the order they are told in
            found = pages(self._server, "/lessons/", limit=ALL_LESSONS, deleted=True)
            gone = [_row(fields) for fields in found]
            return LessonList(gone[:limit], len(gone))
        rows = [_row(fields) for fields in pages(self._server, "/lessons/", limit=ALL_LESSONS)]
        # As `LessonQuerySet.by_rank` orders them.
        rows.sort(key=lambda row: (row.updated_at, row.pk), reverse=True)
        rows.sort(key=lambda row: (not row.pinned, row.source != Source.USER_EXPLICIT))
        return LessonList(rows[:limit], len(rows))

    def remove(self, *, query: str, all: bool) -> LessonRemoval:
        answer = api_call(self._server, "POST", "/lessons/remove", body={}, q=query, all=all or None)
        found = {name: tuple(map(_row, answer[name])) for name in ("removed", "candidates")}
        return LessonRemoval(**found)

    def restore(self, *, citation: str) -> LessonChange:
        number = lesson_number(citation)
        try:
            if number is None:
                raise Refusal(NO_LESSON, status=MISSING, code="not_found")
            answer = api_call(self._server, "POST", f"/memory/lesson/{number}/restore", body={})
            row = _row(api_call(self._server, "GET", f"/lessons/{number}"))
        except Refusal as refusal:
            if refusal.status == MISSING:
                raise CommandError(NO_LESSON.format(citation)) from refusal
            if refusal.status != REFUSED:
                raise
            return LessonChange("refused", Lesson(pk=number), refusal.code, str(refusal))
        is_back = answer["outcome"] == "restored"
        return LessonChange("changed" if is_back else "unchanged", row, message=answer["message"])


def _row(fields: dict[str, Any]) -> Lesson:
    moments = {name: parse_datetime(fields[name]) for name in ("created_at", "updated_at")}
    return Lesson(
        **{name: fields[name] for name in FIELDS}, **moments, superseded_by_id=fields["superseded_by"]
    )

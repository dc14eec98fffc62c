"""Lessons over HTTP (layer 6): list, teach, look, edit, pin, delete, remove by text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from crewsite.api import versions
from crewsite.api.base import PROBLEMS, CrewView, paged
from crewsite.api.errors import Conflict, Refused
from crewsite.api.pagination import LastDeleted, NewestFirst
from crewsite.api.semantic import refuse_others
from crewsite.api.serializers import (
    QUERY_MAX_CHARS,
    LessonAnswer,
    LessonRow,
    LessonWrite,
    RowQuery,
    StrictSerializer,
    Text,
    WorkspaceQuery,
)
from crewsite.security.origin import Source
from lessons.models import Lesson
from lessons.services import lesson_delete, lesson_edit, lesson_write, lessons_matching

if TYPE_CHECKING:
    from rest_framework.request import Request


class LessonQuery(RowQuery):
    category = serializers.ChoiceField(choices=Lesson.Category.choices, required=False)
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a field here, not what DRF calls by it
        choices=Source.choices, required=False
    )
    scope = serializers.CharField(required=False, allow_blank=True, max_length=500, help_text="Exactly.")
    pinned = serializers.BooleanField(required=False, allow_null=True, default=None)
    q = serializers.CharField(required=False, max_length=QUERY_MAX_CHARS, help_text="Characters it holds.")


class LessonPatch(StrictSerializer):
    """What is left out stays as it is."""

    rule = Text(required=False, help_text="3 to 1,000 characters.")
    negative = Text(required=False, allow_blank=True)
    category = serializers.ChoiceField(Lesson.Category.choices, required=False)
    scope = Text(required=False, allow_blank=True)
    pinned = serializers.BooleanField(required=False)


class RemoveQuery(WorkspaceQuery):
    q = serializers.CharField(max_length=QUERY_MAX_CHARS, help_text="Text they hold, or les:12.")
    all = serializers.BooleanField(required=False, default=False, help_text="Remove several at once.")


class RemovedAnswer(serializers.Serializer[Any]):
    removed = LessonRow(many=True)
    candidates = LessonRow(many=True, help_text="Several hold the text; none was removed. Say `all`.")


class NoFields(StrictSerializer):
    """A request that takes nothing but its address."""


def shown(row: Lesson) -> dict[str, Any]:
    return dict(LessonRow(row).data)


class Lessons(CrewView):
    @extend_schema(
        operation_id="lessons_list",
        parameters=[LessonQuery],
        responses={200: paged(LessonRow), **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """The lessons of a workspace's memory home, the newest first; tombstones the last removed first."""
        query = self.query(LessonQuery)
        rows = (
            Lesson.all_objects.in_home(self.workspace.home).filter(is_deleted=query["deleted"]).restorable()
        )
        exact: dict[str, Any] = {
            name: query[name] for name in ("category", "source", "scope") if name in query
        }
        if query["pinned"] is not None:
            exact["pinned"] = query["pinned"]
        if "q" in query:
            exact["rule__icontains"] = query["q"]
        pages = LastDeleted() if query["deleted"] else NewestFirst()
        return self.page(pages, rows.filter(**exact), LessonRow)

    @extend_schema(
        operation_id="lessons_create",
        parameters=[WorkspaceQuery],
        request=LessonWrite,
        responses={200: LessonAnswer, 201: LessonAnswer, **PROBLEMS},
    )
    def post(self, request: Request) -> Response:
        """Teach a rule: 201 when it is new, 200 when it was known or replaces others, 422 when refused."""
        self.query(WorkspaceQuery)
        result = lesson_write(
            home=self.workspace.home, origin=self.origin, author=self.person, **self.body(LessonWrite)
        )
        if result.outcome == "refused":
            raise Refused(result.message, code=result.code)
        answer = LessonAnswer(
            {"outcome": result.outcome, "lesson": result.row, "superseded": list(result.superseded)}
        )
        return Response(answer.data, status=201 if result.outcome == "inserted" else 200)


class LessonDetail(CrewView):
    has_versions = ("GET", "PATCH", "DELETE")

    def row(self, row_id: int) -> Lesson:
        home = self.workspace.home
        row: Lesson = self.row_or_404(Lesson.objects.in_home(home).select_related("home"), row_id)
        return row

    @extend_schema(
        operation_id="lessons_retrieve",
        parameters=[WorkspaceQuery],
        responses={200: LessonRow, 304: None, **PROBLEMS},
    )
    def get(self, request: Request, row_id: int) -> Response:
        """One lesson, with its ETag."""
        self.query(WorkspaceQuery)
        return versions.answer(request, shown(self.row(row_id)))

    @extend_schema(
        operation_id="lessons_update",
        parameters=[WorkspaceQuery],
        request=LessonPatch,
        responses={200: LessonRow, **PROBLEMS},
    )
    def patch(self, request: Request, row_id: int) -> Response:
        """Change a lesson in place; the old wording is kept. 409 when another lesson says it already."""
        self.query(WorkspaceQuery)
        row = self.row(row_id)
        fields = ("rule", "negative", "category", "scope", "pinned")
        wanted = {**{name: getattr(row, name) for name in fields}, **self.body(LessonPatch)}
        check = versions.guard(request, shown)
        change = lesson_edit(row=row, origin=self.origin, author=self.person, guard=check, **wanted)
        if change.outcome == "refused":
            raise (Conflict if change.code in {"duplicate", "deleted"} else Refused)(
                change.message, code=change.code
            )
        return versions.answer(request, shown(change.row))

    @extend_schema(
        operation_id="lessons_delete",
        parameters=[WorkspaceQuery],
        request=None,
        responses={204: None, **PROBLEMS},
    )
    def delete(self, request: Request, row_id: int) -> Response:
        """Tombstone the lesson; `restore` brings it back. One's own, or any as an owner of the home."""
        self.query(WorkspaceQuery)
        row = self.row(row_id)
        refuse_others(self, row)
        lesson_delete(row=row, origin=self.origin, guard=versions.guard(request, shown))
        return Response(status=204)


class LessonsRemove(CrewView):
    @extend_schema(
        operation_id="lessons_remove",
        parameters=[RemoveQuery],
        request=NoFields,
        responses={200: RemovedAnswer, **PROBLEMS},
    )
    def post(self, request: Request) -> Response:
        """Remove the lesson that holds a text. Of several none is removed unless `all` says so."""
        query = self.query(RemoveQuery)
        self.body(NoFields)
        found = lessons_matching(self.workspace.home, query["q"])
        if len(found) > 1 and not query["all"]:
            return Response(RemovedAnswer({"removed": [], "candidates": found}).data)
        for row in found:
            refuse_others(self, row)
        for row in found:
            lesson_delete(row=row, origin=self.origin)
        return Response(RemovedAnswer({"removed": found, "candidates": []}).data)

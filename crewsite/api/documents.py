"""Layers 1 to 3 over HTTP: preferences and projects with versions, history, memory as of a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.response import Response

from crewsite.api import versions
from crewsite.api.base import PROBLEMS, CrewView, paged
from crewsite.api.errors import Refused
from crewsite.api.pagination import LatestDay
from crewsite.api.serializers import PageQuery, StrictSerializer, Text, WorkspaceQuery
from memory.as_of import memory_as_of, moment_named
from memory.constants import PREFERENCES_MAX_CHARS, PROJECTS_MAX_CHARS, VERSIONS_LISTED
from memory.models import HistoryEntry, PreferencesDocument, ProjectsDocument
from memory.services import document_replace

if TYPE_CHECKING:
    from rest_framework.request import Request

MAX_VERSION = 2**31 - 1  # the column


class DocumentQuery(WorkspaceQuery):
    version = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_VERSION, help_text="Default: the one in force."
    )


class VersionRow(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    version = serializers.IntegerField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field here, not what DRF calls by it
    author = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    replaced_at = serializers.DateTimeField(allow_null=True)


class DocumentAnswer(serializers.Serializer[Any]):
    """`version` 0 and an empty text: none was written yet."""

    version = serializers.IntegerField()
    text = serializers.CharField(allow_blank=True)
    cap = serializers.IntegerField(help_text="Characters that a prompt takes of it.")
    versions = VersionRow(many=True, help_text="The latest, newest first.")


class DocumentWrite(StrictSerializer):
    text = Text(allow_blank=True, trim_whitespace=False, help_text="Markdown; replaces the whole document.")


class DocumentPut(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(["replaced", "unchanged"])
    document = DocumentAnswer()


class _Document(CrewView):
    model: Any  # the table of one of the two documents
    cap: int
    has_versions = ("GET", "PUT")

    def rows(self) -> Any:
        return self.model.objects.filter(workspace=self.workspace).order_by("-version")

    def shown(self, row: Any) -> dict[str, Any]:
        listed = self.rows().select_related("author")[:VERSIONS_LISTED]
        told = {
            "version": row.version if row else 0,
            "text": row.text if row else "",
            "cap": self.cap,
            "versions": listed,
        }
        return dict(DocumentAnswer(told).data)

    def retrieve(self, request: Request) -> Response:
        query = self.query(DocumentQuery)
        if "version" not in query:
            return versions.answer(request, self.shown(self.rows().filter(replaced_at__isnull=True).first()))
        row = self.rows().filter(version=query["version"]).first()
        if row is None:
            raise Http404
        return versions.answer(request, self.shown(row))

    def replace(self, request: Request) -> Response:
        self.query(WorkspaceQuery)
        result = document_replace(
            model=self.model,
            workspace=self.workspace,
            origin=self.origin,
            author=self.person,
            guard=versions.guard(request, self.shown),
            **self.body(DocumentWrite),
        )
        if result.outcome == "refused":
            raise Refused(result.message, code=result.code)
        document = self.shown(result.row)
        answer = {"outcome": result.outcome, "document": document}
        return Response(answer, headers={"ETag": versions.etag(document)})


class Preferences(_Document):
    model = PreferencesDocument
    cap = PREFERENCES_MAX_CHARS

    @extend_schema(
        operation_id="memory_preferences_retrieve",
        parameters=[DocumentQuery],
        responses={200: DocumentAnswer, 304: None, **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """The workspace's preferences, in force or of a version."""
        return self.retrieve(request)

    @extend_schema(
        operation_id="memory_preferences_write",
        parameters=[WorkspaceQuery],
        request=DocumentWrite,
        responses={200: DocumentPut, **PROBLEMS},
    )
    def put(self, request: Request) -> Response:
        """Put a new version of the preferences in force; the old one is kept."""
        return self.replace(request)


class Projects(_Document):
    model = ProjectsDocument
    cap = PROJECTS_MAX_CHARS

    @extend_schema(
        operation_id="memory_projects_retrieve",
        parameters=[DocumentQuery],
        responses={200: DocumentAnswer, 304: None, **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """What the workspace works on, in force or of a version."""
        return self.retrieve(request)

    @extend_schema(
        operation_id="memory_projects_write",
        parameters=[WorkspaceQuery],
        request=DocumentWrite,
        responses={200: DocumentPut, **PROBLEMS},
    )
    def put(self, request: Request) -> Response:
        """Put a new version of the projects in force; the old one is kept."""
        return self.replace(request)


class HistoryQuery(PageQuery):
    since = serializers.DateField(required=False, help_text="Local day of the workspace, and later.")


@extend_schema_field({"type": "string", "pattern": r"^\d\d:\d\d:\d\d$"})
class LocalTime(serializers.TimeField):
    """Without an offset: it is that of the workspace, on that day."""


class HistoryRow(serializers.ModelSerializer[HistoryEntry]):
    time = LocalTime(format="%H:%M:%S")
    conversation = serializers.UUIDField(source="conversation_id", allow_null=True)

    class Meta:
        model = HistoryEntry
        fields = ["id", "uid", "day", "time", "title", "text", "conversation", "created_at"]


class History(CrewView):
    @extend_schema(
        operation_id="memory_history_list",
        parameters=[HistoryQuery],
        responses={200: paged(HistoryRow), **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """Entries of the workspace's history, the latest first, by its local days."""
        query = self.query(HistoryQuery)
        rows = HistoryEntry.objects.filter(workspace=self.workspace)
        if "since" in query:
            rows = rows.filter(day__gte=query["since"])
        return self.page(LatestDay(), rows, HistoryRow)


class AsOfQuery(WorkspaceQuery):
    moment = serializers.CharField(
        max_length=40, help_text="2026-03-10 (the end of that local day) or 2026-03-10T14:30."
    )


class StandingRow(serializers.Serializer[Any]):
    kind = serializers.CharField()
    id = serializers.IntegerField(source="object_id")
    citation = serializers.CharField()
    text = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field here, not what DRF calls by it
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True)


class AsOfAnswer(serializers.Serializer[Any]):
    moment = serializers.DateTimeField()
    rows = StandingRow(many=True)


class AsOf(CrewView):
    @extend_schema(
        operation_id="memory_as_of", parameters=[AsOfQuery], responses={200: AsOfAnswer, **PROBLEMS}
    )
    def get(self, request: Request) -> Response:
        """Facts and lessons as they stood at a moment, those since deleted too."""
        moment = moment_named(self.query(AsOfQuery)["moment"], self.workspace)
        if moment is None:
            raise serializers.ValidationError({"moment": ["Like 2026-03-10 or 2026-03-10T14:30."]})
        rows = memory_as_of(home=self.workspace.home, moment=moment)
        return Response(AsOfAnswer({"moment": moment, "rows": rows}).data)

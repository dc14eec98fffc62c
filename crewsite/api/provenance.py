"""Endpoints that say where a row of memory came from, and that bring one back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from crewsite.api.base import MAX_ID, PROBLEMS, CrewView
from crewsite.api.errors import Refused
from crewsite.api.serializers import StrictSerializer, WorkspaceQuery
from memory.explain import memory_explain
from memory.layers import layer_of

if TYPE_CHECKING:
    from rest_framework.request import Request

    from crewsite.accounts.models import Workspace
    from memory.layers import MemoryLayer

ROW = [
    OpenApiParameter(
        "kind",
        str,
        OpenApiParameter.PATH,
        enum=["preferences", "projects", "history", "semantic", "episodic", "lesson"],
    ),
    OpenApiParameter(
        "row_id", int, OpenApiParameter.PATH, description="Row id, as in injections and events."
    ),
]


class RowRefAnswer(serializers.Serializer[Any]):
    citation = serializers.CharField()
    id = serializers.IntegerField(source="object_id")
    text = serializers.CharField()
    at = serializers.DateTimeField()


class ConversationRef(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    title = serializers.CharField(help_text="Empty: a conversation of somebody else.")


class ReceiptRow(serializers.Serializer[Any]):
    path = serializers.CharField()
    first_message = serializers.IntegerField()
    last_message = serializers.IntegerField()
    model = serializers.CharField()
    prompt_version = serializers.CharField()


class InjectionRow(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    conversation = ConversationRef()
    rank = serializers.IntegerField()
    score = serializers.FloatField(allow_null=True)


class RowEvent(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    event = serializers.CharField()
    reason = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field here, not what DRF calls by it
    surface = serializers.CharField()
    actor = serializers.CharField()


class ExplanationAnswer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    id = serializers.IntegerField(source="object_id")
    uid = serializers.UUIDField()
    citation = serializers.CharField()
    text = serializers.CharField()
    state = serializers.CharField(help_text="`in force`, or why it no longer is.")
    since = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment]  # a field here, not what DRF calls by it
    surface = serializers.CharField()
    author = serializers.CharField()
    conversation = ConversationRef(allow_null=True)
    receipts = ReceiptRow(many=True)
    replaced_by = RowRefAnswer(many=True)
    replaces = RowRefAnswer(many=True)
    injections = InjectionRow(many=True)
    events = RowEvent(many=True)


class RestoreAnswer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(["restored", "unchanged"])
    citation = serializers.CharField()
    id = serializers.IntegerField()
    message = serializers.CharField(allow_blank=True)


class NoBody(StrictSerializer):
    """A restore takes nothing but its address."""


class _RowView(CrewView):
    def row(self, workspace: Workspace, kind: str, row_id: int) -> tuple[MemoryLayer, Any]:
        """The row as this workspace sees it; another's does not exist."""
        layer = layer_of(kind)
        row = None if layer is None or row_id > MAX_ID else layer.rows(workspace).filter(pk=row_id).first()
        if layer is None or row is None:
            raise Http404
        return layer, row


class Explain(_RowView):
    @extend_schema(
        operation_id="memory_explain",
        parameters=[*ROW, WorkspaceQuery],
        responses={200: ExplanationAnswer, **PROBLEMS},
    )
    def get(self, request: Request, kind: str, row_id: int) -> Response:
        """Where a row came from, what replaced it, and into which conversations it was injected."""
        self.query(WorkspaceQuery)
        layer, row = self.row(self.workspace, kind, row_id)
        return Response(ExplanationAnswer(memory_explain(layer=layer, row=row, viewer=self.person)).data)


class Restore(_RowView):
    @extend_schema(
        operation_id="memory_restore",
        parameters=[*ROW, WorkspaceQuery],
        request=NoBody,
        responses={200: RestoreAnswer, **PROBLEMS},
    )
    def post(self, request: Request, kind: str, row_id: int) -> Response:
        """Bring back a deleted, superseded or replaced row; screened and compared anew, 422 when refused."""
        self.query(WorkspaceQuery)
        self.body(NoBody)
        layer, row = self.row(self.workspace, kind, row_id)
        result = layer.restore(row=row, origin=self.origin, author=self.person)
        if result.outcome == "refused":
            raise Refused(result.message, code=result.code)
        answer = {
            "outcome": result.outcome,
            "citation": layer.citation(result.row),
            "id": result.row.pk,
            "message": result.message,
        }
        return Response(RestoreAnswer(answer).data)

"""Facts over HTTP (layer 4): list, set, look, delete by key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db.models import Q, TextField
from django.db.models.functions import Cast
from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.response import Response

from crewsite.accounts.selectors import may_delete
from crewsite.api import versions
from crewsite.api.base import PROBLEMS, CrewView, paged
from crewsite.api.errors import Refused
from crewsite.api.pagination import NewestFirst
from crewsite.api.serializers import QUERY_MAX_CHARS, RowQuery, StrictSerializer, Text, WorkspaceQuery
from crewsite.security.origin import Source
from memory.models import SemanticMemory
from memory.services import semantic_delete, semantic_write

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from rest_framework.request import Request


class FactQuery(RowQuery):
    prefix = serializers.CharField(required=False, max_length=100, help_text="Such as pref. or project.site")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a field here, not what DRF calls by it
        choices=Source.choices, required=False
    )
    q = serializers.CharField(
        required=False, max_length=QUERY_MAX_CHARS, help_text="Characters that key or value hold."
    )


@extend_schema_field({})
class AnyValue(serializers.JSONField):
    """Any JSON value."""


class FactRow(serializers.ModelSerializer[SemanticMemory]):
    value = AnyValue()
    author = serializers.CharField(allow_null=True)
    conversation = serializers.UUIDField(source="conversation_id", allow_null=True)

    class Meta:
        model = SemanticMemory
        fields = [
            "id",
            "uid",
            "key",
            "value",
            "confidence",
            "source",
            "author",
            "conversation",
            "valid_from",
            "created_at",
            "updated_at",
            "deleted_at",
            "deleted_reason",
        ]


class FactWrite(StrictSerializer):
    """The rules of keys, values and confidence are the service's; a refusal names them."""

    key = Text(help_text="Lower case with dots, such as pref.editor.")
    value = AnyValue(help_text="Any JSON of at most 4,096 bytes.")
    confidence = serializers.FloatField(required=False, default=1.0, min_value=0, max_value=1)


class FactAnswer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(["created", "updated", "unchanged"])
    fact = FactRow()


def shown(row: SemanticMemory) -> dict[str, Any]:
    return dict(FactRow(row).data)


class Facts(CrewView):
    has_versions = ("PUT",)

    @extend_schema(
        operation_id="memory_semantic_list",
        parameters=[FactQuery],
        responses={200: paged(FactRow), **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """The facts of the workspace's memory home, the newest first."""
        query = self.query(FactQuery)
        rows = SemanticMemory.all_objects.filter(home=self.workspace.home, is_deleted=query["deleted"])
        rows = rows.select_related("author")
        if "prefix" in query:
            rows = rows.filter(key__startswith=query["prefix"])
        if "source" in query:
            rows = rows.filter(source=query["source"])
        return self.page(NewestFirst(), _holding(rows, query.get("q", "")), FactRow)

    @extend_schema(
        operation_id="memory_semantic_write",
        parameters=[WorkspaceQuery],
        request=FactWrite,
        responses={200: FactAnswer, 201: FactAnswer, **PROBLEMS},
    )
    def put(self, request: Request) -> Response:
        """Set a key: 201 when it is new, 200 when it was there, 422 when a rule refuses it."""
        self.query(WorkspaceQuery)
        result = semantic_write(
            home=self.workspace.home,
            origin=self.origin,
            author=self.person,
            guard=versions.guard(request, shown),
            **self.body(FactWrite),
        )
        if result.outcome == "refused" or result.row is None:
            raise Refused(result.message, code=result.code)
        fact = shown(result.row)
        status = 201 if result.outcome == "created" else 200
        headers = {"ETag": versions.etag(fact)}
        return Response({"outcome": result.outcome, "fact": fact}, status=status, headers=headers)


class Fact(CrewView):
    has_versions = ("GET", "DELETE")

    def row(self, key: str) -> SemanticMemory:
        home = self.workspace.home
        row = SemanticMemory.objects.filter(home=home, key=key).select_related("author").first()
        if row is None:
            raise Http404
        return row

    @extend_schema(
        operation_id="memory_semantic_retrieve",
        parameters=[WorkspaceQuery],
        responses={200: FactRow, 304: None, **PROBLEMS},
    )
    def get(self, request: Request, key: str) -> Response:
        """The fact in force under a key, with its ETag."""
        self.query(WorkspaceQuery)
        return versions.answer(request, shown(self.row(key)))

    @extend_schema(
        operation_id="memory_semantic_delete",
        parameters=[WorkspaceQuery],
        request=None,
        responses={204: None, **PROBLEMS},
    )
    def delete(self, request: Request, key: str) -> Response:
        """Tombstone the fact; `restore` brings it back. One's own, or any as an owner of the memory home."""
        self.query(WorkspaceQuery)
        row = self.row(key)
        refuse_others(self, row)
        semantic_delete(row=row, origin=self.origin, guard=versions.guard(request, shown))
        return Response(status=204)


def refuse_others(view: CrewView, row: Any) -> None:
    if not may_delete(view.person, row):
        raise PermissionDenied(
            "Only an owner of the memory home may delete what others wrote.", code="not_author"
        )


def _holding(rows: QuerySet[SemanticMemory], said: str) -> QuerySet[SemanticMemory]:
    """SQLite keeps values as JSON that escapes what is not ASCII, PostgreSQL as they read."""
    if not said:
        return rows
    escaped = json.dumps(said)[1:-1]
    return rows.annotate(as_text=Cast("value", TextField())).filter(
        Q(key__icontains=said) | Q(as_text__icontains=said) | Q(as_text__icontains=escaped)
    )

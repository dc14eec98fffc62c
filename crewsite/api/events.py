"""The audit trail of memory over HTTP: filters, pages and an export."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer

from crewsite.api.base import MAX_ID, PROBLEMS, CrewView, paged
from crewsite.api.pagination import NewestFirst
from crewsite.api.serializers import PageQuery, WorkspaceQuery
from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Source, Surface

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from rest_framework.request import Request
    from rest_framework.response import Response

    from crewsite.accounts.models import Workspace

JSON_LINES = "application/x-ndjson"


class _Filters(WorkspaceQuery):
    event = serializers.ChoiceField(choices=MemoryEvent.Event.choices, required=False)
    kind = serializers.CharField(required=False, max_length=32, help_text="Layer, such as semantic.")
    id = serializers.IntegerField(required=False, min_value=1, max_value=MAX_ID, help_text="Row, with kind.")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a field here, not what DRF calls by it
        choices=Source.choices, required=False
    )
    surface = serializers.ChoiceField(choices=Surface.choices, required=False)
    actor = serializers.CharField(required=False, max_length=150)
    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False, help_text="Before this moment.")


class EventQuery(PageQuery, _Filters):
    pass


class ExportQuery(_Filters):
    pass


LOOKUPS = {
    "event": "event",
    "kind": "memory_type",
    "id": "object_id",
    "source": "source",
    "surface": "surface",
    "actor": "actor",
    "since": "at__gte",
    "until": "at__lt",
}


class EventRow(serializers.ModelSerializer[MemoryEvent]):
    kind = serializers.CharField(source="memory_type")
    row = serializers.IntegerField(source="object_id", allow_null=True)

    class Meta:
        model = MemoryEvent
        fields = [
            "id",
            "at",
            "event",
            "kind",
            "row",
            "old_value",
            "new_value",
            "reason",
            "source",
            "surface",
            "actor",
            "conversation_id",
        ]


def events_of(workspace: Workspace, query: dict[str, Any]) -> QuerySet[MemoryEvent]:
    """What happened in the workspace, and to the layers that it shares with its memory home."""
    events = MemoryEvent.objects.read_from(workspace.pk, home_id=workspace.home.pk)
    return events.filter(**{LOOKUPS[name]: query[name] for name in LOOKUPS if name in query})


class Events(CrewView):
    @extend_schema(
        operation_id="memory_events_list",
        parameters=[EventQuery],
        responses={200: paged(EventRow), **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """Every change and refusal of the workspace's memory that is kept, the newest first."""
        rows = events_of(self.workspace, self.query(EventQuery))
        return self.page(NewestFirst(), rows, EventRow)


class JsonLines(BaseRenderer):
    """What the export is made of; a refusal of it is JSON all the same."""

    media_type = JSON_LINES
    format = "ndjson"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> bytes:
        rendered: bytes = JSONRenderer().render(data)
        return rendered


class EventsExport(CrewView):
    renderer_classes = [JsonLines, JSONRenderer]

    @extend_schema(
        operation_id="memory_events_export",
        parameters=[ExportQuery],
        responses={(200, JSON_LINES): OpenApiTypes.STR, **PROBLEMS},
    )
    def get(self, request: Request) -> HttpResponse:
        """All of them as a file of JSON lines, the oldest first. For owners."""
        rows = events_of(self.workspace, self.query(ExportQuery)).order_by("id")
        lines = (json.dumps(EventRow(row).data, ensure_ascii=False) for row in rows.iterator())
        answer = HttpResponse("".join(f"{line}\n" for line in lines), content_type=JSON_LINES)
        answer["Content-Disposition"] = f'attachment; filename="events-{self.workspace.slug}.jsonl"'
        return answer

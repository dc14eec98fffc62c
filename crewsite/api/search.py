"""Search over every kind, and the packet that a prompt would get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from crewsite.api import serializers
from crewsite.api.base import PROBLEMS, CrewView
from crewsite.conversations.models import Conversation
from crewsite.security.origin import Surface

if TYPE_CHECKING:
    from rest_framework.request import Request


class MemorySearch(CrewView):
    @extend_schema(
        operation_id="memory_search",
        parameters=[serializers.SearchQuery],
        responses={200: serializers.SearchAnswer, **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """Search facts, episodes, lessons and one's own conversations at once."""
        from crewsite.search.recall import Asker, search_all

        query = self.query(serializers.SearchQuery)
        found = search_all(
            query=query["q"],
            workspace=self.workspace,
            kinds=_kinds(query["kinds"]),
            limit=query["limit"],
            asker=Asker(self.person.pk),
        )
        return Response(serializers.SearchAnswer(found).data)


def _kinds(text: str) -> list[str] | None:
    from crewsite.search.kinds import search_kinds

    asked = [name.strip() for name in text.split(",") if name.strip()]
    known = [kind.name for kind in search_kinds()]
    unknown = sorted(set(asked) - set(known))
    if unknown:
        raise ValidationError({"kinds": [f"Unknown: {', '.join(unknown)}. Known: {', '.join(known)}."]})
    return asked or None


class ContextPreview(CrewView):
    @extend_schema(
        operation_id="memory_context_preview",
        parameters=[serializers.PreviewQuery],
        responses={200: serializers.Packet, **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """The packet that would be injected for this message. Built like a real one; stores nothing."""
        from crewsite.chat.preparing import packet_ahead

        query = self.query(serializers.PreviewQuery)
        packet = packet_ahead(self._conversation(query), query["q"], window=query.get("window"))
        return Response(serializers.Packet(packet.as_json()).data)

    def _conversation(self, query: dict[str, Any]) -> Conversation:
        if "conversation" not in query:
            return Conversation(owner=self.person, workspace=self.workspace, surface=Surface.API)
        found: Conversation | None = self.conversations().filter(pk=query["conversation"]).first()
        if found is None:
            raise Http404
        return found

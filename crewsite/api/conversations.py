"""One's own conversations over HTTP: list, begin, look, change, delete, and their messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.db import transaction
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.response import Response

from crewsite.api import versions
from crewsite.api.base import PROBLEMS, CrewView, paged
from crewsite.api.pagination import LatestActivity, OldestFirst
from crewsite.api.serializers import (
    ConversationRow,
    MessageRow,
    PageQuery,
    StrictSerializer,
    Text,
    WorkspaceQuery,
)
from crewsite.chat.model_choice import model_checked
from crewsite.chat.selectors import may_write
from crewsite.conversations.constants import MODEL_MAX_CHARS, TITLE_MAX_CHARS
from crewsite.conversations.models import Conversation
from crewsite.conversations.services import (
    conversation_archive,
    conversation_create,
    conversation_delete,
    conversation_pin,
    conversation_rename,
    conversation_set_mode,
    conversation_set_model,
)
from crewsite.security.origin import Surface

if TYPE_CHECKING:
    from rest_framework.request import Request

CONVERSATION = OpenApiParameter("conversation_id", UUID, OpenApiParameter.PATH)


class ModelName(Text):
    """Empty and `default` for the site's own; else a connection or a model that one offers."""

    def to_internal_value(self, data: Any) -> str:
        named = model_checked(super().to_internal_value(data))
        if named.choice is None:
            raise serializers.ValidationError(named.refusal, code="unknown_model")
        return named.choice.value


class ConversationWrite(StrictSerializer):
    title = Text(required=False, default="", allow_blank=True, max_length=TITLE_MAX_CHARS)
    mode = serializers.ChoiceField(
        Conversation.Mode.choices, required=False, default=Conversation.Mode.PERSISTENT
    )
    model = ModelName(
        required=False,
        default="",
        allow_blank=True,
        max_length=MODEL_MAX_CHARS,
        help_text="Default: the site's.",
    )
    project = Text(
        required=False, default="", allow_blank=True, max_length=500, help_text="Path of the project."
    )


class ConversationPatch(StrictSerializer):
    """What is left out stays as it is."""

    title = Text(required=False, allow_blank=True, max_length=TITLE_MAX_CHARS)
    mode = serializers.ChoiceField(Conversation.Mode.choices, required=False)
    model = ModelName(
        required=False, allow_blank=True, max_length=MODEL_MAX_CHARS, help_text="Empty: the site's."
    )
    pinned = serializers.BooleanField(required=False)
    archived = serializers.BooleanField(required=False, help_text="True takes it out of the list.")


CHANGES: Final[dict[str, Callable[..., Any]]] = {
    "title": conversation_rename,
    "mode": conversation_set_mode,
    "model": conversation_set_model,
    "pinned": conversation_pin,
    "archived": conversation_archive,
}


def shown(row: Conversation) -> dict[str, Any]:
    return dict(ConversationRow(row).data)


class ConversationView(CrewView):
    in_workspace = False

    def conversation(self, conversation_id: UUID) -> Conversation:
        """One's own; anybody else's does not exist."""
        rows = self.conversations().select_related("workspace", "owner")
        found: Conversation | None = rows.filter(pk=conversation_id).first()
        if found is None:
            raise Http404
        return found

    def locked(self, conversation_id: UUID) -> Conversation:
        """The same as it stands under its lock, within a transaction."""
        found = self.conversation(conversation_id)
        Conversation.objects.select_for_update().filter(pk=found.pk).first()
        return self.conversation(conversation_id)

    def writable(self, conversation_id: UUID) -> Conversation:
        found = self.conversation(conversation_id)
        if not may_write(self.person, found, token=self.token):
            raise PermissionDenied("You may read this conversation, not write to it.", code="role_too_low")
        return found


class Conversations(CrewView):
    @extend_schema(
        operation_id="conversations_list",
        parameters=[PageQuery],
        responses={200: paged(ConversationRow), **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """One's own conversations, the latest first."""
        query = self.query(PageQuery)
        rows = self.conversations().current().select_related("workspace")
        if query["workspace"]:
            rows = rows.filter(workspace=self.named_workspace(query["workspace"]))
        return self.page(LatestActivity(), rows, ConversationRow)

    @extend_schema(
        operation_id="conversations_create",
        parameters=[WorkspaceQuery],
        request=ConversationWrite,
        responses={201: ConversationRow, **PROBLEMS},
    )
    def post(self, request: Request) -> Response:
        """Begin a conversation in the workspace."""
        self.query(WorkspaceQuery)
        made = conversation_create(
            owner=self.person,
            workspace=self.workspace,
            surface=Surface.API,
            **self.body(ConversationWrite),
        )
        answer = versions.answer(request, shown(made), status=201)
        answer["Location"] = f"{request.path}{made.pk}"
        return answer


class ConversationDetail(ConversationView):
    has_versions = ("GET", "PATCH", "DELETE")

    @extend_schema(
        operation_id="conversations_retrieve",
        parameters=[CONVERSATION],
        responses={200: ConversationRow, 304: None, **PROBLEMS},
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """One of one's own conversations, with its ETag."""
        self.query(StrictSerializer)
        return versions.answer(request, shown(self.conversation(conversation_id)))

    @extend_schema(
        operation_id="conversations_update",
        parameters=[CONVERSATION],
        request=ConversationPatch,
        responses={200: ConversationRow, **PROBLEMS},
    )
    def patch(self, request: Request, conversation_id: UUID) -> Response:
        """Rename, pin or archive it; change its memory mode or model from the next message on."""
        self.query(StrictSerializer)
        changes = self.body(ConversationPatch)
        self.writable(conversation_id)
        with transaction.atomic():
            row = self.locked(conversation_id)
            versions.guard(request, shown)(row)
            for name, value in changes.items():
                CHANGES[name](conversation=row, **{name: value})
        return versions.answer(request, shown(row))

    @extend_schema(
        operation_id="conversations_delete",
        parameters=[CONVERSATION],
        request=None,
        responses={204: None, **PROBLEMS},
    )
    def delete(self, request: Request, conversation_id: UUID) -> Response:
        """Delete it with its messages, for good. What memory learned from it stays."""
        self.query(StrictSerializer)
        with transaction.atomic():
            row = self.locked(conversation_id)
            versions.guard(request, shown)(row)
            conversation_delete(conversation=row, origin=replace(self.origin, conversation_id=row.pk))
        return Response(status=204)


class Messages(ConversationView):
    @extend_schema(
        operation_id="conversations_messages_list",
        parameters=[PageQuery, CONVERSATION],
        responses={200: paged(MessageRow), **PROBLEMS},
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """The messages of one of one's own conversations, the oldest first."""
        self.query(PageQuery)
        rows = self.conversation(conversation_id).messages.filter(is_current=True)
        return self.page(OldestFirst(), rows, MessageRow)

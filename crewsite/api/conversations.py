"""One's own conversations over HTTP: list, begin, look, rename, archive, and their messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied

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
from crewsite.chat.selectors import may_write
from crewsite.conversations.constants import TITLE_MAX_CHARS
from crewsite.conversations.models import Conversation
from crewsite.conversations.services import (
    conversation_archive,
    conversation_create,
    conversation_rename,
    conversation_set_mode,
)
from crewsite.security.origin import Surface

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.response import Response

CONVERSATION = OpenApiParameter("conversation_id", UUID, OpenApiParameter.PATH)


class ConversationWrite(StrictSerializer):
    title = Text(required=False, default="", allow_blank=True, max_length=TITLE_MAX_CHARS)
    mode = serializers.ChoiceField(
        Conversation.Mode.choices, required=False, default=Conversation.Mode.PERSISTENT
    )
    model = Text(
        required=False, default="", allow_blank=True, max_length=200, help_text="Default: the site's."
    )
    project = Text(
        required=False, default="", allow_blank=True, max_length=500, help_text="Path of the project."
    )


class ConversationPatch(StrictSerializer):
    """What is left out stays as it is."""

    title = Text(required=False, allow_blank=True, max_length=TITLE_MAX_CHARS)
    mode = serializers.ChoiceField(Conversation.Mode.choices, required=False)
    archived = serializers.BooleanField(required=False, help_text="True takes it out of the list.")


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
    has_versions = ("GET", "PATCH")

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
        """Rename it, change its memory mode from the next message on, or archive it."""
        self.query(StrictSerializer)
        changes = self.body(ConversationPatch)
        row = self.writable(conversation_id)
        with transaction.atomic():
            Conversation.objects.select_for_update().get(pk=row.pk)
            row = self.conversation(conversation_id)
            versions.guard(request, shown)(row)
            if "title" in changes:
                conversation_rename(conversation=row, title=changes["title"])
            if "mode" in changes:
                conversation_set_mode(conversation=row, mode=changes["mode"])
            if "archived" in changes:
                conversation_archive(conversation=row, archived=changes["archived"])
        return versions.answer(request, shown(row))


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

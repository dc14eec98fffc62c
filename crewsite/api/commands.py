"""The slash commands of chat over HTTP: one line, answered in Markdown, as in the web chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from crewsite.api.base import PROBLEMS
from crewsite.api.conversations import CONVERSATION, ConversationView
from crewsite.api.serializers import StrictSerializer, Text
from crewsite.chat.commands import context_in, run_command
from crewsite.chat.constants import MESSAGE_MAX_CHARS

if TYPE_CHECKING:
    from uuid import UUID

    from rest_framework.request import Request


class CommandWrite(StrictSerializer):
    text = Text(max_length=MESSAGE_MAX_CHARS, help_text="Such as /forget lunch; /help lists them.")


class CommandAnswer(serializers.Serializer[Any]):
    text = serializers.CharField(help_text="Markdown.")
    ok = serializers.BooleanField(help_text="False: it was refused, and the text says why.")
    data = serializers.DictField(help_text="What it changed or found, such as ids.")  # type: ignore[assignment]  # a field here


class Commands(ConversationView):
    @extend_schema(
        operation_id="conversations_commands_create",
        parameters=[CONVERSATION],
        request=CommandWrite,
        responses={200: CommandAnswer, **PROBLEMS},
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Run a slash command in a conversation. It is neither kept in it nor sent to a model."""
        self.query(StrictSerializer)
        conversation = self.writable(conversation_id)
        context = context_in(conversation, self.person)
        result = run_command(context, self.body(CommandWrite)["text"])
        answer = {"text": result.text, "ok": result.ok, "data": result.data}
        return Response(CommandAnswer(answer).data)

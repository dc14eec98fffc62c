"""Chat over HTTP: a message and its answer, as one JSON answer or as a stream of server-sent events."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from asgiref.sync import async_to_sync
from django.http import Http404, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import Throttled
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from crewsite.api.base import PROBLEMS
from crewsite.api.constants import STREAM_PING_S, TURN_WAIT_S
from crewsite.api.conversations import CONVERSATION, ConversationView
from crewsite.api.errors import Conflict, Refused
from crewsite.api.idempotency import key_of
from crewsite.api.lessons import NoFields
from crewsite.api.serializers import MessageRow, StrictSerializer, Text
from crewsite.chat.commands import is_command
from crewsite.chat.constants import MESSAGE_MAX_CHARS
from crewsite.chat.following import turn_frames, turn_halt, turn_submit, turn_wait
from crewsite.chat.limits import wait_for_turn
from crewsite.chat.models import Turn
from crewsite.chat.payloads import frame_text, injected_rows
from crewsite.chat.permissions import permissions
from crewsite.chat.selectors import OPEN_STATES, turn_in
from crewsite.chat.services import turn_retry, turn_start
from crewsite.security.origin import Surface
from crewsite.security.text import clean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rest_framework.request import Request

    from crewsite.conversations.models import Conversation

AnyResponse = Response | StreamingHttpResponse
EVENT_STREAM: Final = "text/event-stream"
CALL_MAX_CHARS: Final = 1_000  # models and agents name their calls as they like
TURN = OpenApiParameter("turn_id", UUID, OpenApiParameter.PATH)


class TurnWrite(StrictSerializer):
    text = Text(max_length=MESSAGE_MAX_CHARS, trim_whitespace=False)

    def validate_text(self, text: str) -> str:
        if not text.strip():
            raise serializers.ValidationError("The text is empty.", code="blank")
        if is_command(text):
            raise serializers.ValidationError("A command goes to `commands` of this conversation.")
        return text


class AnswerWrite(StrictSerializer):
    call = Text(max_length=CALL_MAX_CHARS, trim_whitespace=False, help_text="The `id` of the tool call.")
    choice = Text(max_length=CALL_MAX_CHARS, trim_whitespace=False, help_text="The `id` of a choice.")


class InjectedRow(serializers.Serializer[Any]):
    kind = serializers.CharField()
    object_id = serializers.IntegerField()
    citation = serializers.CharField()


class TurnAnswer(serializers.ModelSerializer[Turn]):
    message = MessageRow(source="user_message")
    answer = MessageRow(source="assistant_message", allow_null=True)
    injected = serializers.SerializerMethodField(help_text="The memory rows that stood in the prompt.")

    class Meta:
        model = Turn
        fields = [
            "id",
            "state",
            "error",
            "retryable",
            "model",
            "mode",
            "message",
            "answer",
            "injected",
            "created_at",
            "finished_at",
        ]

    def get_injected(self, turn: Turn) -> list[dict[str, Any]]:
        return [dict(InjectedRow(row).data) for row in injected_rows(turn.packet)]


class EventStream(JSONRenderer):
    """Lets a client ask for a stream; a refusal of it is JSON all the same."""

    media_type = EVENT_STREAM
    format = "sse"


class TurnView(ConversationView):
    def found(self, conversation: Conversation, turn_id: UUID) -> Turn:
        turn = turn_in(conversation, turn_id)
        if turn is None:
            raise Http404
        return turn

    def count_turn(self) -> None:
        """Answers cost more than other writes, so they have a limit of their own."""
        wait = wait_for_turn(self.person.pk)
        if wait:
            raise Throttled(wait=wait)

    def answered(self, turn: Turn, *, is_new: bool = True, is_retry: bool = False) -> AnyResponse:
        """The answer of a queued turn: its frames, or the whole of it as far as it comes within the wait."""
        if is_new:
            async_to_sync(turn_submit)(turn, user_id=self.person.pk, is_retry=is_retry)
        if _streams(self.request):
            return _stream(turn.conversation, turn)
        async_to_sync(turn_wait)(turn.conversation, turn.pk, seconds=TURN_WAIT_S)
        turn = turn_in(turn.conversation, turn.pk) or turn
        return Response(TurnAnswer(turn).data, status=202 if turn.state in OPEN_STATES else 200)


class Turns(TurnView):
    renderer_classes = [JSONRenderer, EventStream]
    keeps_answers = False  # the key is that of the turn, which keeps its answer

    @extend_schema(
        operation_id="conversations_turns_create",
        parameters=[CONVERSATION],
        request=TurnWrite,
        responses={
            (200, "application/json"): TurnAnswer,
            (200, EVENT_STREAM): OpenApiTypes.STR,
            (202, "application/json"): TurnAnswer,
            **PROBLEMS,
        },
    )
    def post(self, request: Request, conversation_id: UUID) -> AnyResponse:
        """Send a message. With `Accept: text/event-stream` the answer streams; else it comes whole, or 202
        when it takes longer than a proxy waits: then look at the turn. An `Idempotency-Key` sends it once.
        """
        self.query(StrictSerializer)
        conversation = self.writable(conversation_id)
        turn, is_new = self._turn(request, conversation)
        return self.answered(turn, is_new=is_new)

    def _turn(self, request: Request, conversation: Conversation) -> tuple[Turn, bool]:
        text, key = self.body(TurnWrite)["text"], key_of(request)
        known = conversation.turns.filter(client_key=key).exists() if key else False
        if not known:
            self.count_turn()
        turn, is_new = turn_start(
            conversation=conversation,
            user=self.person,
            text=text,
            client_key=key or uuid.uuid4().hex,
            surface=Surface.API,
        )
        if not is_new and turn.user_message.content != clean(text):
            raise Refused("This key was used for another message.", code="idempotency_mismatch")
        if not is_new and turn.state in OPEN_STATES and not _streams(request):
            raise Conflict("This message is being answered.", code="idempotency_in_progress")
        return turn, is_new


class TurnDetail(TurnView):
    @extend_schema(
        operation_id="conversations_turns_retrieve",
        parameters=[CONVERSATION, TURN],
        responses={200: TurnAnswer, **PROBLEMS},
    )
    def get(self, request: Request, conversation_id: UUID, turn_id: UUID) -> Response:
        """A turn as it stands: what was asked, what is answered so far, what was injected."""
        self.query(StrictSerializer)
        return Response(TurnAnswer(self.found(self.conversation(conversation_id), turn_id)).data)


class TurnStop(TurnView):
    @extend_schema(
        operation_id="conversations_turns_stop",
        parameters=[CONVERSATION, TURN],
        request=NoFields,
        responses={200: TurnAnswer, **PROBLEMS},
    )
    def post(self, request: Request, conversation_id: UUID, turn_id: UUID) -> Response:
        """Stop an answer; what was written of it is kept. 409 when it has ended."""
        self.query(StrictSerializer)
        self.body(NoFields)
        conversation = self.writable(conversation_id)
        turn = self.found(conversation, turn_id)
        if turn.state not in OPEN_STATES:
            raise Conflict("The answer has ended already.", code="turn_ended")
        async_to_sync(turn_halt)(turn)
        return Response(TurnAnswer(self.found(conversation, turn_id)).data)


class TurnAnswers(TurnView):
    @extend_schema(
        operation_id="conversations_turns_answers_create",
        parameters=[CONVERSATION, TURN],
        request=AnswerWrite,
        responses={200: TurnAnswer, **PROBLEMS},
    )
    def post(self, request: Request, conversation_id: UUID, turn_id: UUID) -> Response:
        """Allow or deny a tool call that asks, whichever process it waits in. 409 when it waits no longer."""
        self.query(StrictSerializer)
        conversation = self.writable(conversation_id)
        turn = self.found(conversation, turn_id)
        given = self.body(AnswerWrite)
        if not async_to_sync(permissions.answer)(turn.pk, given["call"], given["choice"]):
            raise Conflict("That tool call no longer waits for an answer.", code="not_asked")
        return Response(TurnAnswer(self.found(conversation, turn_id)).data)


class TurnRetry(TurnView):
    renderer_classes = [JSONRenderer, EventStream]

    @property
    def keeps_answers(self) -> bool:  # type: ignore[override]  # whoever streams follows the turn itself
        return not _streams(self.request)

    @extend_schema(
        operation_id="conversations_turns_retry",
        parameters=[CONVERSATION, TURN],
        request=NoFields,
        responses={
            (200, "application/json"): TurnAnswer,
            (200, EVENT_STREAM): OpenApiTypes.STR,
            (202, "application/json"): TurnAnswer,
            **PROBLEMS,
        },
    )
    def post(self, request: Request, conversation_id: UUID, turn_id: UUID) -> AnyResponse:
        """Ask for the answer of a failed or stopped turn again, in its place. 409 when it is neither. The
        answer comes as that of a new message does.
        """
        self.query(StrictSerializer)
        self.body(NoFields)
        found = self.found(self.writable(conversation_id), turn_id)
        self.count_turn()
        turn = turn_retry(turn_id=found.pk)
        if turn is None:
            raise Conflict("Only a failed or stopped answer can be tried again.", code="not_retryable")
        return self.answered(turn, is_retry=True)


def _streams(request: Request) -> bool:
    return isinstance(request.accepted_renderer, EventStream)


def _stream(conversation: Conversation, turn: Turn) -> StreamingHttpResponse:
    """The frames of the chat socket as events. The turn goes on when the client leaves."""

    async def events() -> AsyncIterator[str]:
        yield _event("turn", json.dumps({"turn": str(turn.pk), "conversation": str(conversation.pk)}))
        async for item in turn_frames(conversation, turn.pk, ping_s=STREAM_PING_S):
            yield _event(item["type"], frame_text(item))

    answer = StreamingHttpResponse(events(), content_type=f"{EVENT_STREAM}; charset=utf-8")
    answer["Cache-Control"] = "no-store"
    answer["X-Accel-Buffering"] = "no"
    return answer


def _event(name: str, data: str) -> str:
    return f"event: {name}\ndata: {data}\n\n"

"""The endpoints: read the request, call one service or selector, answer. `errors` translates refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.cache import cache
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import permissions
from rest_framework.response import Response
from rest_framework.serializers import ValidationError
from rest_framework.views import APIView

from crewsite.accounts.models import ApiToken, Role, User, Workspace
from crewsite.accounts.selectors import workspace_resolve, workspaces_for
from crewsite.accounts.tokens import TokenScope
from crewsite.api import serializers
from crewsite.api.errors import LengthRequired, Refused, TooLarge
from crewsite.api.health import readiness
from crewsite.api.pagination import LatestActivity, NewestFirst, OldestFirst
from crewsite.conversations.models import Conversation
from crewsite.security.origin import Origin, Source, Surface
from lessons.models import Lesson

if TYPE_CHECKING:
    from rest_framework.request import Request

READY_KEEP_SECONDS = 3
PROBLEMS = {"4XX": serializers.ProblemBody}


class CrewView(APIView):
    """Who asks, with which token, about which workspace."""

    permission_classes = [permissions.IsAuthenticated, TokenScope]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if "HTTP_TRANSFER_ENCODING" in request.META and "CONTENT_LENGTH" not in request.META:
            raise LengthRequired
        # JSON is parsed from the stream, past Django's own limit.
        if int(request.META.get("CONTENT_LENGTH") or 0) > (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0):
            raise TooLarge

    @property
    def token(self) -> ApiToken | None:
        return self.request.auth if isinstance(self.request.auth, ApiToken) else None

    @property
    def person(self) -> User:
        user = self.request.user
        assert isinstance(user, User)  # noqa: S101 - IsAuthenticated has seen to it
        return user

    @property
    def origin(self) -> Origin:
        """A session is a person at a page; a token is a program acting for one."""
        source = Source.API if self.token else Source.USER_EXPLICIT
        return Origin(source=source, surface=Surface.API, actor=self.person.get_username())

    def query(self, kind: type[serializers.StrictSerializer]) -> dict[str, Any]:
        query = kind(data=self.request.query_params.dict())
        query.is_valid(raise_exception=True)
        return dict(query.validated_data)

    def workspace(self, slug: str, *, at_least: Role = Role.VIEWER) -> Workspace:
        return workspace_resolve(self.person, token=self.token, slug=slug, at_least=at_least)

    def conversations(self) -> Any:
        """The person's own, narrowed to the token's workspace."""
        mine = Conversation.objects.for_user(self.person)
        return mine.filter(workspace__in=workspaces_for(self.person, token=self.token))


class HealthLive(APIView):
    """The process answers. Asks nothing else, so that a slow database does not restart a healthy process."""

    authentication_classes = []
    permission_classes = []

    @extend_schema(responses={200: dict[str, str]})
    def get(self, request: Request) -> Response:
        return Response({"status": "ok"})


class HealthReady(APIView):
    """Whether to send traffic here: 503 without a database. Names what is degraded, without details."""

    authentication_classes = []
    permission_classes = []

    @extend_schema(responses={200: dict[str, Any], 503: dict[str, Any]})
    def get(self, request: Request) -> Response:
        # Anybody may ask as often as they like, and must not slow the site by it: counting rows costs.
        report = cache.get_or_set("api.health.ready", readiness, READY_KEEP_SECONDS) or {}
        serves = report["database"]["state"] == "ready"
        states = {name: part["state"] for name, part in report.items() if name != "degraded"}
        word = ("degraded" if report["degraded"] else "ok") if serves else "unavailable"
        return Response(
            {"status": word, "degraded": report["degraded"], **states}, status=200 if serves else 503
        )


class EmbeddingsStatus(CrewView):
    @extend_schema(responses={200: serializers.EmbeddingsAnswer, **PROBLEMS})
    def get(self, request: Request) -> Response:
        self.workspace("")
        report = readiness()
        embedder = {"error": "", **report["embedder"]}
        return Response(serializers.EmbeddingsAnswer({**embedder, "index": report["index"]}).data)


class ContextPreview(CrewView):
    """The packet that would be injected for this message. Builds it like a real one and stores nothing."""

    @extend_schema(parameters=[serializers.PreviewQuery], responses={200: serializers.Packet, **PROBLEMS})
    def get(self, request: Request) -> Response:
        from crewsite.chat.preparing import packet_ahead

        query = self.query(serializers.PreviewQuery)
        packet = packet_ahead(self._conversation(query), query["q"], window=query.get("window"))
        return Response(serializers.Packet(packet.as_json()).data)

    def _conversation(self, query: dict[str, Any]) -> Conversation:
        if "conversation" not in query:
            workspace = self.workspace(query["workspace"])
            return Conversation(owner=self.person, workspace=workspace, surface=Surface.API)
        found: Conversation | None = self.conversations().filter(pk=query["conversation"]).first()
        if found is None:
            raise Http404
        return found


class MemorySearch(CrewView):
    @extend_schema(
        parameters=[serializers.SearchQuery], responses={200: serializers.SearchAnswer, **PROBLEMS}
    )
    def get(self, request: Request) -> Response:
        from crewsite.search.recall import Asker, search_all

        query = self.query(serializers.SearchQuery)
        workspace = self.workspace(query["workspace"])
        found = search_all(
            query=query["q"],
            workspace_id=workspace.pk,
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


class Conversations(CrewView):
    @extend_schema(
        parameters=[serializers.PageQuery],
        responses={200: serializers.ConversationRow(many=True), **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """One's own conversations, the latest first."""
        query = self.query(serializers.PageQuery)
        rows = self.conversations().current().select_related("workspace")
        if query["workspace"]:
            rows = rows.filter(workspace=self.workspace(query["workspace"]))
        return _page(LatestActivity(), rows, self, serializers.ConversationRow)


class Messages(CrewView):
    @extend_schema(
        parameters=[serializers.PageQuery, OpenApiParameter("conversation_id", str, OpenApiParameter.PATH)],
        responses={200: serializers.MessageRow(many=True), **PROBLEMS},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """The messages of one of one's own conversations, the oldest first."""
        self.query(serializers.PageQuery)
        conversation = self.conversations().filter(pk=conversation_id).first()
        if conversation is None:
            raise Http404
        return _page(OldestFirst(), conversation.messages.filter(is_current=True), self, serializers.MessageRow)


class Lessons(CrewView):
    @extend_schema(
        parameters=[serializers.PageQuery], responses={200: serializers.LessonRow(many=True), **PROBLEMS}
    )
    def get(self, request: Request) -> Response:
        """The lessons of a workspace's memory home, the newest first."""
        workspace = self.workspace(self.query(serializers.PageQuery)["workspace"])
        return _page(
            NewestFirst(), Lesson.objects.all().filter(home=workspace.home), self, serializers.LessonRow
        )

    @extend_schema(
        parameters=[serializers.WorkspaceQuery],
        request=serializers.LessonWrite,
        responses={200: serializers.LessonAnswer, 201: serializers.LessonAnswer, **PROBLEMS},
    )
    def post(self, request: Request) -> Response:
        """Teach a rule: 201 when it is new, 200 when it was known or replaces others, 422 when refused."""
        from lessons.services import lesson_write

        workspace = self.workspace(self.query(serializers.WorkspaceQuery)["workspace"], at_least=Role.MEMBER)
        body = serializers.LessonWrite(data=request.data)
        body.is_valid(raise_exception=True)
        result = lesson_write(
            home=workspace.home, origin=self.origin, author=self.person, **body.validated_data
        )
        if result.outcome == "refused":
            raise Refused(result.message, code=result.code)
        answer = serializers.LessonAnswer(
            {"outcome": result.outcome, "lesson": result.row, "superseded": list(result.superseded)}
        )
        return Response(answer.data, status=201 if result.outcome == "inserted" else 200)


def _page(paginator: Any, rows: Any, view: CrewView, row: Any) -> Response:
    page = paginator.paginate_queryset(rows, view.request, view=view)
    answer: Response = paginator.get_paginated_response(row(page, many=True).data)
    return answer

"""What every view shares: who asks, with which token, about which workspace, whether they may, and pages."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import Http404
from rest_framework import permissions, serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.views import APIView

from crewsite.accounts.access import OPERATIONS, ROLES, Right
from crewsite.accounts.models import ApiToken, Role, User, Workspace
from crewsite.accounts.selectors import workspace_resolve, workspaces_for
from crewsite.accounts.server import EXPLICIT_HEADER
from crewsite.accounts.tokens import TokenScope
from crewsite.api import idempotency, throttling
from crewsite.api.errors import MEDIA_TYPE, LengthRequired, TooLarge
from crewsite.api.serializers import ProblemBody, WorkspaceQuery
from crewsite.conversations.models import Conversation
from crewsite.security.origin import Origin, Source, Surface

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.response import Response

    from crewsite.api.serializers import StrictSerializer

# How the schema describes refusals: those of the client, and the one of a site under maintenance.
PROBLEMS: Final[dict[Any, Any]] = {("4XX", MEDIA_TYPE): ProblemBody, ("503", MEDIA_TYPE): ProblemBody}
MAX_ID: Final = 2**63 - 1  # what a row id can be in every database
_CONVERTER: Final = re.compile(r"<(?:\w+:)?(\w+)>")


def operation_of(method: str, route: str) -> str:
    """`GET /memory/semantic/{key}`, as the table of rights and the schema name it."""
    path = _CONVERTER.sub(r"{\1}", route).removeprefix("api/v1")
    return f"{'GET' if method == 'HEAD' else method} {path}"


class CrewView(APIView):
    """Decides by the table of rights before a handler runs. Where a right is one in a workspace,
    `self.workspace` is the one the request means; views whose row names it set `in_workspace` to False.
    """

    permission_classes = [permissions.IsAuthenticated, TokenScope]
    metadata_class = None  # OPTIONS describes nothing that the schema does not
    in_workspace = True
    keeps_answers = True  # for Idempotency-Key
    takes_key = True  # not where an answer holds a secret, for the schema
    has_versions: tuple[str, ...] = ()  # methods with an ETag, for the schema
    workspace: Workspace

    def perform_authentication(self, request: Request) -> None:
        """Counted here, so that an unknown token counts as well."""
        try:
            super().perform_authentication(request)
        finally:
            throttling.count(request)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if "HTTP_TRANSFER_ENCODING" in request.META and "CONTENT_LENGTH" not in request.META:
            raise LengthRequired
        # JSON is parsed from the stream, past Django's own limit.
        if int(request.META.get("CONTENT_LENGTH") or 0) > (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0):
            raise TooLarge
        if hasattr(self, (request.method or "").lower()):
            self._admit(request)
            if request.method == "POST":
                self._answer_once()

    def _admit(self, request: Request) -> None:
        match = request.resolver_match
        right = OPERATIONS.get(operation_of(request.method or "", match.route if match else ""))
        if right is None:
            raise ImproperlyConfigured(f"{request.path} has no right in accounts.access.")
        if right == Right.OPERATE and not self.is_operator:
            raise PermissionDenied("This is for operators of the site.", code="operators_only")
        if self.in_workspace and right in ROLES:
            self.workspace = self.named_workspace(_workspace_asked(request), at_least=ROLES[right])

    def _answer_once(self) -> None:
        """A request with an `Idempotency-Key` runs its handler once."""
        handler: Any = getattr(self, "post")  # noqa: B009 - subclasses define it, this class has none
        setattr(self, "post", partial(idempotency.answer_once, self, handler))  # noqa: B010

    @property
    def token(self) -> ApiToken | None:
        return self.request.auth if isinstance(self.request.auth, ApiToken) else None

    @property
    def person(self) -> User:
        user = self.request.user
        assert isinstance(user, User)  # noqa: S101 - IsAuthenticated has seen to it
        return user

    @property
    def is_operator(self) -> bool:
        """An operator; through a token, one that is bound to no workspace and has the scope `admin`."""
        token = self.token
        unbound = token is None or (token.workspace_id is None and "admin" in token.scopes)
        return self.person.is_superuser and unbound

    @property
    def origin(self) -> Origin:
        """A session is a person at a page; a token is a program acting for one, unless it says that the
        person asked for this very write."""
        is_said = self.token is None or self.request.headers.get(EXPLICIT_HEADER, "").lower() == "true"
        source = Source.USER_EXPLICIT if is_said else Source.API
        return Origin(source=source, surface=Surface.API, actor=self.person.get_username())

    def query(self, kind: type[StrictSerializer]) -> dict[str, Any]:
        query = kind(data=self.request.query_params.dict())
        query.is_valid(raise_exception=True)
        return dict(query.validated_data)

    def body(self, kind: type[StrictSerializer], **options: Any) -> dict[str, Any]:
        body = kind(data=self.request.data, **options)
        body.is_valid(raise_exception=True)
        return dict(body.validated_data)

    def named_workspace(self, slug: str, *, at_least: Role = Role.VIEWER) -> Workspace:
        return workspace_resolve(self.person, token=self.token, slug=slug, at_least=at_least)

    def conversations(self) -> Any:
        """The person's own, narrowed to the token's workspace."""
        mine = Conversation.objects.for_user(self.person)
        return mine.filter(workspace__in=workspaces_for(self.person, token=self.token))

    def row_or_404(self, rows: Any, row_id: int) -> Any:
        row = rows.filter(pk=row_id).first() if row_id <= MAX_ID else None
        if row is None:
            raise Http404
        return row

    def page(self, paginator: Any, rows: Any, row: type[serializers.BaseSerializer[Any]]) -> Response:
        found = paginator.paginate_queryset(rows, self.request, view=self)
        answer: Response = paginator.get_paginated_response(row(found, many=True).data)
        return answer


def _workspace_asked(request: Request) -> str:
    """The parameter alone; the others are judged by the handler, once the caller may know them."""
    asked = {name: text for name, text in request.query_params.items() if name == "workspace"}
    query = WorkspaceQuery(data=asked)
    query.is_valid(raise_exception=True)
    slug: str = query.validated_data["workspace"]
    return slug


def paged(row: type[serializers.BaseSerializer[Any]]) -> type[serializers.Serializer[Any]]:
    """How the schema describes a page of rows."""
    address: dict[str, Any] = {"allow_null": True, "required": True}
    fields = {
        "next": serializers.URLField(help_text="The following page; null: this is the last.", **address),
        "previous": serializers.URLField(**address),
        "results": row(many=True),
    }
    return type(f"{row.__name__}Page", (serializers.Serializer,), fields)

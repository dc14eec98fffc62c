"""One's own API tokens over HTTP: list, make, revoke. Making one takes a session or the scope `admin`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.response import Response

from crewsite.accounts.constants import SCOPES, TOKEN_DAYS_DEFAULT, TOKEN_DAYS_MAX, TOKEN_NAME_MAX_CHARS
from crewsite.accounts.models import ApiToken
from crewsite.accounts.services import token_create, token_revoke
from crewsite.api.base import PROBLEMS, CrewView
from crewsite.api.idempotency import HEADER, key_of
from crewsite.api.serializers import StrictSerializer, Text

if TYPE_CHECKING:
    from rest_framework.request import Request


class TokenRow(serializers.ModelSerializer[ApiToken]):
    key = serializers.CharField(source="token_key", help_text="Its first characters, which name it.")
    workspace = serializers.CharField(source="workspace.slug", allow_null=True)
    scopes = serializers.ListField(child=serializers.ChoiceField(SCOPES))

    class Meta:
        model = ApiToken
        fields = ["key", "name", "workspace", "scopes", "created", "expiry", "last_used_at"]


class TokensAnswer(serializers.Serializer[Any]):
    results = TokenRow(many=True)


class TokenWrite(StrictSerializer):
    name = Text(max_length=TOKEN_NAME_MAX_CHARS)
    workspace = serializers.SlugField(required=False, default="", help_text="The one it reaches; else all.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(SCOPES), required=False, default=["read", "write"], min_length=1
    )
    days = serializers.IntegerField(
        required=False, default=TOKEN_DAYS_DEFAULT, min_value=1, max_value=TOKEN_DAYS_MAX
    )


class NewToken(TokenRow):
    token = serializers.CharField(help_text="Shown once.")

    class Meta(TokenRow.Meta):
        fields = [*TokenRow.Meta.fields, "token"]


class Tokens(CrewView):
    keeps_answers = takes_key = False

    @extend_schema(operation_id="security_tokens_list", responses={200: TokensAnswer, **PROBLEMS})
    def get(self, request: Request) -> Response:
        """One's own tokens, without their text; through a bound token, those of its workspace."""
        self.query(StrictSerializer)
        return Response(TokensAnswer({"results": own_tokens(self)}).data)

    @extend_schema(
        operation_id="security_tokens_create", request=TokenWrite, responses={201: NewToken, **PROBLEMS}
    )
    def post(self, request: Request) -> Response:
        """Make a token. Its text is in this answer and nowhere else, so no answer is kept for a key."""
        self.query(StrictSerializer)
        if key_of(request):
            raise ValidationError({HEADER: ["Not here: the answer holds a secret and is not kept."]})
        wanted = self.body(TokenWrite)
        slug = wanted.pop("workspace")
        asks = self.token
        if asks is not None:
            if "admin" not in asks.scopes or not set(wanted["scopes"]) <= set(asks.scopes):
                raise PermissionDenied("A token makes no token that may more than itself.", code="scope")
            slug = slug or (asks.workspace.slug if asks.workspace else "")
        workspace = self.named_workspace(slug) if slug else None
        made, text = token_create(user=self.person, workspace=workspace, **wanted)
        made_row: Any = made
        made_row.token = text
        return Response(NewToken(made_row).data, status=201)


class Token(CrewView):
    @extend_schema(operation_id="security_tokens_revoke", request=None, responses={204: None, **PROBLEMS})
    def delete(self, request: Request, token_key: str) -> Response:
        """Revoke one of one's own tokens; its next request is refused."""
        self.query(StrictSerializer)
        found = next((row for row in own_tokens(self) if row.token_key == token_key), None)
        if found is None:
            raise Http404
        token_revoke(found)
        return Response(status=204)


def own_tokens(view: CrewView) -> list[ApiToken]:
    rows = ApiToken.objects.filter(user=view.person).select_related("user", "workspace")
    token = view.token
    if token is not None and token.workspace_id is not None:
        rows = rows.filter(workspace_id=token.workspace_id)
    return list(rows.order_by("created", "token_key"))

"""Who is behind a websocket: a session whose page is ours, or an API token. Reads rows, so for a database
thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user
from django.http.cookie import parse_cookie

from crewsite.accounts.models import ApiToken, User
from crewsite.accounts.origins import origin_allowed
from crewsite.accounts.tokens import HEADER_WORDS, token_find, token_is_live, token_touch

# `Sec-WebSocket-Protocol: crew.v1, token.crew_...`: browsers set no other header, and addresses get logged.
PROTOCOL_PREFIX: Final = "token."


@dataclass(frozen=True, slots=True)
class AuthenticatedSocket:
    """A person and what they showed: a token, or the key of their session."""

    user: User
    token: ApiToken | None = None
    session_key: str = ""


def authenticate(scope: Mapping[str, Any]) -> AuthenticatedSocket | None:
    """The person behind a websocket's scope, or None.

    A token needs no `Origin`. A session cookie, which a browser sends from any page, needs one that is ours.
    """
    headers = _headers(scope)
    plaintext = _token_text(scope, headers)
    origin = headers.get("origin")
    if origin is not None and not origin_allowed(origin):
        return None
    if plaintext:
        return _by_token(plaintext)
    if origin is None:
        return None
    return _by_session(_session_key(headers.get("cookie", "")))


def still_valid(socket: AuthenticatedSocket) -> bool:
    """Whether the same token or session would be let in now. Sockets ask every 20 s."""
    if socket.token is not None:
        return _token_stands(socket.token.digest)
    again = _by_session(socket.session_key)
    return again is not None and again.user.pk == socket.user.pk


def _headers(scope: Mapping[str, Any]) -> dict[str, str]:
    return {name.decode("latin1").lower(): value.decode("latin1") for name, value in scope.get("headers", ())}


def _token_text(scope: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    word, _, rest = headers.get("authorization", "").partition(" ")
    if word.lower().encode() in HEADER_WORDS:
        return rest.strip()
    protocols = scope.get("subprotocols", ())
    texts = [name.removeprefix(PROTOCOL_PREFIX) for name in protocols if name.startswith(PROTOCOL_PREFIX)]
    return texts[0] if texts else ""


def _session_key(cookie: str) -> str:
    return parse_cookie(cookie).get(settings.SESSION_COOKIE_NAME, "")


def _by_token(plaintext: str) -> AuthenticatedSocket | None:
    token = token_find(plaintext)
    if token is None:
        return None
    token_touch(token)
    return AuthenticatedSocket(user=token.user, token=token)


def _token_stands(digest: str) -> bool:
    token = ApiToken.objects.select_related("user").filter(digest=digest).first()
    return token is not None and token_is_live(token)


def _by_session(key: str) -> AuthenticatedSocket | None:
    if not key:
        return None
    store = import_module(settings.SESSION_ENGINE).SessionStore(key)
    request_like: Any = SimpleNamespace(session=store)  # all that is looked at of a request
    user = get_user(request_like)
    if not isinstance(user, User) or not user.is_active:
        return None
    return AuthenticatedSocket(user=user, session_key=key)

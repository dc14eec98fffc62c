"""API tokens at the door: who a token stands for, what it may do, and when it was last used."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Q
from django.utils import timezone
from knox.auth import TokenAuthentication
from knox.crypto import hash_token
from knox.settings import knox_settings
from rest_framework.authentication import get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission

from crewsite.accounts.constants import TOKEN_USED_EVERY_SECONDS
from crewsite.accounts.models import ApiToken, User
from crewsite.jobs.store import maintenance_now

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

# `Bearer` is what API clients send by themselves, `Token` what Django's own tools are used to.
HEADER_WORDS = (b"bearer", b"token")


def token_find(plaintext: str, *, now: datetime | None = None) -> ApiToken | None:
    """The live token of an active person behind this text. The database sees its hash only."""
    now = now or timezone.now()
    if not plaintext.startswith(knox_settings.TOKEN_PREFIX) or not plaintext.isascii():
        return None
    token = ApiToken.objects.select_related("user", "workspace").filter(digest=hash_token(plaintext)).first()
    return token if token is not None and token_is_live(token, now=now) else None


def token_is_live(token: ApiToken, *, now: datetime | None = None) -> bool:
    return token.user.is_active and (token.expiry is None or token.expiry > (now or timezone.now()))


def token_touch(token: ApiToken, *, now: datetime | None = None) -> None:
    """Note the use, at most once a minute; not under maintenance, where reading must go on."""
    if maintenance_now() is not None:
        return
    now = now or timezone.now()
    before = now - timedelta(seconds=TOKEN_USED_EVERY_SECONDS)
    if token.last_used_at is None or token.last_used_at < before:
        unused = Q(last_used_at__isnull=True) | Q(last_used_at__lt=before)
        ApiToken.objects.filter(unused, digest=token.digest).update(last_used_at=now)
        token.last_used_at = now


class CrewTokenAuthentication(TokenAuthentication):
    """Knox tokens found by their hash. An expired one is refused and stays listed until the daily prune."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() not in HEADER_WORDS:
            return None
        if len(words) != len(("word", "token")):
            raise AuthenticationFailed("The Authorization header must be: Bearer TOKEN.")
        return self.authenticate_credentials(words[1])

    def authenticate_credentials(self, token: bytes) -> tuple[User, ApiToken]:
        found = token_find(token.decode("ascii", "replace"))
        if found is None:
            raise AuthenticationFailed("The token is unknown, expired or revoked.")
        token_touch(found)
        return found.user, found


class TokenScope(BasePermission):
    """What the token was made for: `read` for reading, `write` for all else, `admin` if a view asks for it.

    A session has every scope; what the person may do is checked with their present role in any case.
    """

    message = "The token lacks the scope for this."

    def has_permission(self, request: Request, view: APIView) -> bool:
        token: Any = request.auth
        if not isinstance(token, ApiToken):
            return True
        needed = getattr(view, "token_scope", "") or ("read" if request.method in SAFE_METHODS else "write")
        return needed in token.scopes

"""How many requests a minute somebody may make: by token, by person for a session, by address for nobody
(chapter 13, 13.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rest_framework.exceptions import Throttled
from rest_framework.permissions import SAFE_METHODS

from crewsite.accounts.models import ApiToken
from crewsite.chat.limits import seconds_to_wait, wait_for_nobody
from crewsite.live import live_value

if TYPE_CHECKING:
    from rest_framework.request import Request

# Load balancers ask these as often as they like.
UNCOUNTED: Final = ("/api/v1/health/",)


def count(request: Request) -> None:
    """Count one request of whoever makes it. Raises Throttled, which says when to try again."""
    if request.path.startswith(UNCOUNTED):
        return
    wait = _wait(request)
    if wait:
        raise Throttled(wait=wait)


def _wait(request: Request) -> int:
    user = request.user
    if not user.is_authenticated:
        return wait_for_nobody(request.META.get("REMOTE_ADDR", ""))
    token = request.auth
    who = f"token:{token.digest}" if isinstance(token, ApiToken) else f"person:{user.pk}"
    if request.method in SAFE_METHODS:
        return seconds_to_wait(f"read:{who}", int(live_value("API_READS_PER_MINUTE")))
    return seconds_to_wait(f"write:{who}", int(live_value("API_WRITES_PER_MINUTE")))

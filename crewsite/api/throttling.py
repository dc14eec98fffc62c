"""How many requests a minute somebody may make: by token, by person for a session, by address for nobody
(chapter 13, 13.10). Counters sit in the cache: in Redis when there is one, else in this process.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final

from django.core.cache import cache
from rest_framework.exceptions import Throttled
from rest_framework.permissions import SAFE_METHODS

from crewsite.accounts.models import ApiToken
from crewsite.live import live_value

if TYPE_CHECKING:
    from rest_framework.request import Request

WINDOW_S: Final = 60
# Load balancers ask these as often as they like.
UNCOUNTED: Final = ("/api/v1/health/",)


def count(request: Request) -> None:
    """Count one request of whoever makes it. Raises Throttled, which says when to try again."""
    if request.path.startswith(UNCOUNTED):
        return
    key, limit = _counted(request)
    wait = seconds_to_wait(key, limit)
    if wait:
        raise Throttled(wait=wait)


def seconds_to_wait(key: str, limit: int, *, now: float | None = None) -> int:
    """0, and one more is counted, while fewer than `limit` were made in the last minute. The minute slides:
    of the clock minute before, the share counts that still lies within it.
    """
    now = time.time() if now is None else now
    minute, into = divmod(now, WINDOW_S)
    current, before = f"{key}:{minute:.0f}", f"{key}:{minute - 1:.0f}"
    known = cache.get_many([current, before])
    made, earlier = known.get(current, 0), known.get(before, 0)
    if made + 1 > limit:
        return math.ceil(WINDOW_S - into)
    if made + 1 + earlier * (1 - into / WINDOW_S) > limit:
        free_at = WINDOW_S * (1 - (limit - 1 - made) / earlier)
        return int(max(1, math.ceil(free_at - into)))
    cache.add(current, 0, timeout=2 * WINDOW_S)
    cache.incr(current)
    return 0


def _counted(request: Request) -> tuple[str, int]:
    user = request.user
    if not user.is_authenticated:
        return f"api:ip:{request.META.get('REMOTE_ADDR', '')}", int(live_value("API_ANONYMOUS_PER_MINUTE"))
    token = request.auth
    who = f"token:{token.digest}" if isinstance(token, ApiToken) else f"person:{user.pk}"
    if request.method in SAFE_METHODS:
        return f"api:read:{who}", int(live_value("API_READS_PER_MINUTE"))
    return f"api:write:{who}", int(live_value("API_WRITES_PER_MINUTE"))

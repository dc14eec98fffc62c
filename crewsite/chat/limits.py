"""How often somebody may do a thing in a minute (chapter 13, 13.10). Answers and requests are counted in the
cache, which all processes share where there is Redis; sockets and their frames in this process."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from django.core.cache import cache

from crewsite.chat.constants import TURNS_PER_MINUTE
from crewsite.live import live_value

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

WINDOW_S: Final = 60


def wait_for_turn(user_id: int) -> int:
    """Seconds until this person may ask for another answer, at whichever door; 0: now, and it is counted."""
    return seconds_to_wait(f"turns:{user_id}", TURNS_PER_MINUTE)


def wait_for_nobody(address: str) -> int:
    """The same for a request that shows no token or session that is known."""
    return seconds_to_wait(f"ip:{address}", int(live_value("API_ANONYMOUS_PER_MINUTE")))


def seconds_to_wait(key: str, limit: int, *, now: float | None = None) -> int:
    """0, and one more is counted, while fewer than `limit` were made in the last minute. The minute slides:
    of the clock minute before, the share counts that still lies within it.
    """
    now = time.time() if now is None else now
    minute, into = divmod(now, WINDOW_S)
    current, before = f"limit:{key}:{minute:.0f}", f"limit:{key}:{minute - 1:.0f}"
    known = cache.get_many([current, before])
    made, earlier = known.get(current, 0), known.get(before, 0)
    if made + 1 > limit:
        return math.ceil(WINDOW_S - into)
    if made + 1 + earlier * (1 - into / WINDOW_S) > limit:
        free_at = WINDOW_S * (1 - (limit - 1 - made) / earlier)
        return int(max(1, math.ceil(free_at - into)))
    cache.add(current, 0, timeout=2 * WINDOW_S)
    try:
        cache.incr(current)
    except ValueError:  # pushed out by others since
        cache.set(current, made + 1, timeout=2 * WINDOW_S)
    return 0


class RateLimit:
    """A sliding window per key, for any thread. `clock` is monotonic seconds."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._times: dict[Hashable, deque[float]] = {}
        self._lock = threading.Lock()

    @property
    def keys(self) -> int:
        """How many are remembered."""
        return len(self._times)

    def allow(self, key: Hashable) -> bool:
        """Count one more, unless that is one too many."""
        with self._lock:
            now = self._clock()
            times = self._times.setdefault(key, deque())
            while times and times[0] <= now - WINDOW_S:
                times.popleft()
            if len(times) >= self.per_minute:
                return False
            times.append(now)
            self._forget_idle(now)
            return True

    def _forget_idle(self, now: float) -> None:
        idle = [key for key, times in self._times.items() if not times or times[-1] <= now - WINDOW_S]
        for key in idle:
            del self._times[key]

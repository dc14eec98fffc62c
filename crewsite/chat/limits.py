"""How often one person, or one socket, may do a thing in a minute. Counted in this process."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

WINDOW_S = 60.0


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

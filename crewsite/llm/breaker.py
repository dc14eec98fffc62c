"""A circuit breaker per endpoint: after five failures in a row nobody waits for a dead endpoint for a
minute."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crewsite.llm.constants import BREAKER_FAILURES, BREAKER_OPEN_S
from crewsite.llm.errors import LlmError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class Breaker:
    """Counts failures in a row. `clock` is monotonic seconds. Once open time is over, calls pass again; one
    success closes it, one failure opens it anew."""

    clock: Callable[[], float] = time.monotonic
    failures: int = 0
    opened_at: float | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def open_for_s(self) -> float:
        """Seconds until calls pass again; 0 when they do now."""
        if self.opened_at is None:
            return 0.0
        return max(0.0, self.opened_at + BREAKER_OPEN_S - self.clock())

    def check(self) -> None:
        """Raises LlmError while open."""
        wait = self.open_for_s
        if wait > 0:
            raise LlmError(
                f"The model endpoint failed {BREAKER_FAILURES} times in a row; "
                f"it is tried again in {wait:.0f} s.",
                retryable=True,
                deferred=True,
                retry_after_s=wait,
            )

    def succeeded(self) -> None:
        with self.lock:
            self.failures, self.opened_at = 0, None

    def failed(self) -> None:
        with self.lock:
            self.failures += 1
            if self.failures >= BREAKER_FAILURES:
                self.opened_at = self.clock()


_breakers: dict[str, Breaker] = {}
_registry_lock = threading.Lock()


def breaker_for(endpoint: str) -> Breaker:
    with _registry_lock:
        return _breakers.setdefault(endpoint, Breaker())


def reset() -> None:
    """Forget all endpoints. For tests and for a changed configuration."""
    with _registry_lock:
        _breakers.clear()

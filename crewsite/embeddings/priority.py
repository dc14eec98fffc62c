"""A lock that lets urgent holders go ahead of the rest, so that a chat's query never waits for a whole
batch."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class PriorityLock:
    """Not re-entrant. Patient holders starve as long as urgent ones keep coming, which is the point."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._held = False
        self._urgent_waiting = 0

    @contextmanager
    def hold(self, *, urgent: bool) -> Iterator[None]:
        with self._condition:
            if urgent:
                self._urgent_waiting += 1
                try:
                    while self._held:
                        self._condition.wait()
                finally:
                    self._urgent_waiting -= 1
            else:
                while self._held or self._urgent_waiting:
                    self._condition.wait()
            self._held = True
        try:
            yield
        finally:
            with self._condition:
                self._held = False
                self._condition.notify_all()

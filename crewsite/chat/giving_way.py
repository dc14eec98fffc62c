"""Work on rows gives way to words on their way to a socket. Python runs one thread at a time, and the event
loop hands over at every read and write: beside a busy thread a word waits longer for its turn than it takes.
So while the loop is late, threads wait before their next statement, `WAIT_MAX_S` at most."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakKeyDictionary

# Found with `python -m bench chat`: later made words later, and turns began no sooner.
LOOK_EVERY_S: Final = 0.005
LATE_S: Final = 0.005
# At one statement. A loop that is late all the time holds work up, and does not stop it.
WAIT_MAX_S: Final = 0.03


class LoopWatch:
    """Whether an event loop is late, for other threads to see. It looks only while there is work that would
    give way."""

    def __init__(self) -> None:
        self._due = float("inf")
        self._working = 0
        self._timer: asyncio.TimerHandle | None = None
        self._in_time = threading.Event()

    @contextmanager
    def working(self) -> Iterator[None]:
        """On the loop: something gives way meanwhile."""
        self._working += 1
        if self._timer is None:
            self._look()
        try:
            yield
        finally:
            self._working -= 1

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        if not self.is_late:
            self._in_time.set()
        if self._working:
            self._due = loop.time() + LOOK_EVERY_S
            self._timer = loop.call_at(self._due, self._look)
        else:
            self._due, self._timer = float("inf"), None

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self._due + LATE_S

    def give_way(self, execute: Callable[..., Any], *call: Any) -> Any:
        """Django's execute wrapper, for the thread that works."""
        if self.is_late:
            self._in_time.clear()
            self._in_time.wait(WAIT_MAX_S)
        return execute(*call)


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopWatch] = WeakKeyDictionary()


def loop_watch() -> LoopWatch:
    """Of the running loop."""
    loop = asyncio.get_running_loop()
    found = _watches.get(loop)
    if found is None:
        found = _watches[loop] = LoopWatch()
    return found

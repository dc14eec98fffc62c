"""Text of a streamed answer that is told as it is read, before the model library has worked on it. What may
be told so is `merging`'s to decide; the library gets it too, later and in larger pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final


class TextAhead:
    """Between one answer's reader and its listener: every character is told once, whichever way it comes."""

    def __init__(self) -> None:
        self.listener: Callable[[str], None] | None = None
        self.handled = 0  # characters that came out of the library
        self._owed = 0  # characters that were told, and will come out of it

    def tell(self, text: str) -> None:
        """What was read just now."""
        self._owed += len(text)
        if self.listener is not None:
            self.listener(text)

    def untold(self, text: str) -> str:
        """What of a text out of the library was not told yet."""
        self.handled += len(text)
        known = min(self._owed, len(text))
        self._owed -= known
        return text[known:]


_current: Final[ContextVar[TextAhead | None]] = ContextVar("text_ahead", default=None)


@contextmanager
def reading_ahead(ahead: TextAhead | None) -> Iterator[None]:
    """A response that begins within is read for `ahead`."""
    token = _current.set(ahead)
    try:
        yield
    finally:
        _current.reset(token)


def current_ahead() -> TextAhead | None:
    return _current.get()

"""Collecting what was not right across the searches that one question causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_noted: ContextVar[dict[str, None] | None] = ContextVar("degradation", default=None)


@contextmanager
def collected() -> Iterator[dict[str, None]]:
    """The reasons noted inside the block, in the order they came, each once."""
    reasons: dict[str, None] = {}
    token = _noted.set(reasons)
    try:
        yield reasons
    finally:
        _noted.reset(token)


def note(reasons: Iterable[str]) -> None:
    noted = _noted.get()
    if noted is not None:
        noted.update(dict.fromkeys(reasons))

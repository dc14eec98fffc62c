"""Fixtures of the memory tests: a clock, and the embedder switched off where a test does not ask for it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from memory import access
from memory.services import room

NOW = dt.datetime(2026, 3, 10, 12, 0, tzinfo=dt.UTC)


@pytest.fixture
def now() -> dt.datetime:
    return NOW


@pytest.fixture(autouse=True)
def fresh_process_state() -> Iterator[None]:
    """What the process keeps between calls must not pass from one test's database to the next."""
    access._pending.clear()
    room.counts_forget()
    yield
    access._pending.clear()

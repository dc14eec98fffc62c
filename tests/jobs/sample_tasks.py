"""Tasks that the tests of the queue run."""

from __future__ import annotations

CALLS: list[tuple[object, ...]] = []


def note(*args: object) -> None:
    CALLS.append(args)


def fail(*args: object) -> None:
    raise ValueError("this task fails")

"""What an examination finds, and running its parts side by side within a time. What is examined is
elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

State = Literal["ok", "warn", "fail"]
# Together they answer within five seconds (people call this when something is broken); starting takes one.
DEADLINE_S: Final = 3.5


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: how a thing is, and for anything but `ok` what to do about it."""

    name: str
    state: State
    told: str
    remedy: str = ""


Check = Callable[[], Iterator[Finding]]


def ok(name: str, told: str) -> Finding:
    return Finding(name, "ok", told)


def warn(name: str, told: str, remedy: str) -> Finding:
    return Finding(name, "warn", told, remedy)


def fail(name: str, told: str, remedy: str) -> Finding:
    return Finding(name, "fail", told, remedy)


def examine(checks: Sequence[tuple[str, Check]], *, seconds: float = DEADLINE_S) -> list[Finding]:
    """What all checks find, in their order. One that breaks or is late is a finding of its own."""
    found: list[list[Finding]] = [[] for _ in checks]
    threads = [
        threading.Thread(target=_collect, args=(name, check, found[place]), daemon=True)
        for place, (name, check) in enumerate(checks)
    ]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    for place, (name, _) in enumerate(checks):
        if threads[place].is_alive():
            late = fail(
                name, f"did not answer within {seconds:.0f} s", "Is the machine or the disk overloaded?"
            )
            found[place] = [*found[place], late]
    return [finding for part in found for finding in part]


def _collect(name: str, check: Check, found: list[Finding]) -> None:
    try:
        for finding in check():
            found.append(finding)  # noqa: PERF402 - what is found before a failure counts
    except Exception as error:  # an examination that breaks is one of the things to report
        told = f"could not be examined: {type(error).__name__}: {error}"
        found.append(fail(name, told, "The log or `crew --traceback` may say more."))

"""How many threads one inference gets. llama.cpp's threads spin for each other, so they must not outnumber
idle cores."""

from __future__ import annotations

import os
from pathlib import Path

from crewsite.embeddings.constants import SHORT_TEXT_THREADS, SHORT_TEXT_TOKENS

LOAD_FILE = Path("/proc/loadavg")


def threads_for(tokens: int, *, cores: int, busy: int | None) -> int:
    """Threads for a text of so many tokens when `busy` cores run something else; None when that is unknown.

    Unknown: one thread for a short text, all cores for a long one.
    """
    if busy is None:
        return 1 if tokens <= SHORT_TEXT_TOKENS else cores
    wanted = SHORT_TEXT_THREADS if tokens <= SHORT_TEXT_TOKENS else cores
    return max(1, min(wanted, cores, cores - busy))


def core_count() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def busy_cores() -> int | None:
    """Threads of the whole machine that run at this moment, without the caller (16 microseconds). None off
    Linux."""
    try:
        running = LOAD_FILE.read_bytes().split()[3].split(b"/")[0]
        return max(0, int(running) - 1)
    except (OSError, ValueError, IndexError):
        return None

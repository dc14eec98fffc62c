"""Ties the worker's processes to the one a supervisor sees: they stop with it and never outlive it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


def tie_children() -> None:
    """Call once, before the cluster forks. Linux only; elsewhere django-q2 behaves as it always does.

    A supervisor (honcho, `timeout`, a terminal) signals the whole process group. The sentinel dies of that
    SIGTERM while it holds the lock that the stopping main process then waits for, for ever. In a group of
    their own the children hear of the stop from the main process alone and end in order. If the main process
    is killed, the kernel kills them too: a sentinel left behind would work on beside its successor.
    """
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    main = os.getpid()

    def in_child() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == main:
            os.setpgid(0, 0)

    os.register_at_fork(after_in_child=in_child)

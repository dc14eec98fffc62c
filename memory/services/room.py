"""How many live episodes a home holds: asked by every write, counted by few."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.constants import LIVE_COUNT_SECONDS
from memory.live import episodic_max_rows
from memory.models import EpisodicMemory

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace


@dataclass(frozen=True, slots=True)
class _Counted:
    """The live rows of a home when they were counted, the newest id of all homes then, and until when it
    counts."""

    live: int
    newest_id: int
    until: float


_counted: dict[int, _Counted] = {}


def live_rows(home: Workspace, *, newest_id: int) -> int:
    """Exact where the next row may be one too many, else at most too high. Under the home's lock.

    Ids only grow, so a home has gained at most as many rows as ids were given out since it was counted.
    Rows that another process brings back are seen within `LIVE_COUNT_SECONDS`.
    """
    known = _counted.get(home.pk)
    if known is not None and known.newest_id <= newest_id and time.monotonic() < known.until:
        at_most = known.live + newest_id - known.newest_id
        if at_most < episodic_max_rows():
            return at_most
    live = EpisodicMemory.objects.filter(home=home).count()
    _counted[home.pk] = _Counted(live, newest_id, time.monotonic() + LIVE_COUNT_SECONDS)
    return live


def counts_forget() -> None:
    """Count anew: rows came back, or the database was replaced."""
    _counted.clear()

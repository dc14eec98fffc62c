"""Memory as it stood at a moment, rebuilt from the rows that were in force then (chapter 02, 2.8)."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from memory.history import zone_of
from memory.layers import memory_layers

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from memory.results import Standing


def memory_as_of(*, home: Workspace, moment: dt.datetime) -> tuple[Standing, ...]:
    """Facts by key, then lessons, with since when and until when each stood. `moment` is aware.

    Deleted rows are among them: this is the record of what was believed, for people, never for a prompt.
    """
    return tuple(standing for layer in memory_layers() for standing in layer.as_of(home=home, moment=moment))


def moment_named(text: str, workspace: Workspace) -> dt.datetime | None:
    """What a person typed: an ISO moment, local to the workspace where it names no offset, or a date, which
    means the end of that local day. None: neither.
    """
    try:
        if len(text) == len("2026-03-10"):
            next_day = dt.date.fromisoformat(text) + dt.timedelta(days=1)
            # Taken off in UTC: where clocks go back at midnight, the last hour of the day comes twice.
            midnight = dt.datetime.combine(next_day, dt.time(), zone_of(workspace)).astimezone(dt.UTC)
            return midnight - dt.timedelta(microseconds=1)
        moment = dt.datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone_of(workspace))).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None

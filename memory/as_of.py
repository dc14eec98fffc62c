"""Memory as it stood at a moment, rebuilt from the rows that were in force then (chapter 02, 2.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.layers import memory_layers

if TYPE_CHECKING:
    import datetime as dt

    from crewsite.accounts.models import Workspace
    from memory.results import Standing


def memory_as_of(*, home: Workspace, moment: dt.datetime) -> tuple[Standing, ...]:
    """Facts by key, then lessons, with since when and until when each stood. `moment` is aware.

    Deleted rows are among them: this is the record of what was believed, for people, never for a prompt.
    """
    return tuple(standing for layer in memory_layers() for standing in layer.as_of(home=home, moment=moment))

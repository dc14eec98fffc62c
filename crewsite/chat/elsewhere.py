"""Turns that another process of this home runs: a second web process, or a terminal. Who starts one marks a
file; who has sockets open looks at it once a second, and reads rows only when it changed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from crewsite.chat.constants import FOLLOW_EVERY_S
from crewsite.chat.models import Turn
from crewsite.chat.selectors import OPEN_STATES
from crewsite.chat.threads import in_database
from crewsite.jobs.leases import process_owner

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

logger = logging.getLogger(__name__)
Tell = Callable[[Turn], None]
# A turn that was over before anybody looked is told too: so long after its last sign of life.
ENDED_S: Final = 5.0


def mark() -> None:
    """A turn begins here. Without its mark, such as on a full disk, others see it when they next connect."""
    now = time.time_ns()  # set, because a file system's own clock may stand still for milliseconds
    with contextlib.suppress(OSError):
        path = _path()
        path.touch(mode=0o600)
        os.utime(path, ns=(now, now))


def turns_elsewhere(conversations: Iterable[UUID], *, since: datetime) -> list[Turn]:
    """Turns of these conversations in other processes that run, or that ended since then."""
    is_new = Q(state__in=OPEN_STATES) | Q(finished_at__gte=since)
    turns = Turn.objects.filter(is_new, conversation_id__in=list(conversations))
    return list(turns.exclude(runner=process_owner()).only("conversation_id", "state", "finished_at"))


class Elsewhere:
    """Belongs to one event loop. Listeners hear of a turn whenever something changed while it runs; whether
    they know of it is theirs to say."""

    def __init__(self) -> None:
        self._listeners: dict[UUID, set[Tell]] = defaultdict(set)
        self._looking: asyncio.Task[None] | None = None

    def listen(self, conversation_id: UUID, tell: Tell) -> None:
        self._listeners[conversation_id].add(tell)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(_marked_at()), name="turns-elsewhere")

    def leave(self, conversation_id: UUID, tell: Tell) -> None:
        self._listeners[conversation_id].discard(tell)
        if not self._listeners[conversation_id]:
            del self._listeners[conversation_id]

    async def _look(self, seen: int) -> None:
        while self._listeners:
            await asyncio.sleep(FOLLOW_EVERY_S)
            marked_at = _marked_at()
            if marked_at == seen:
                continue
            since = timezone.now() - timedelta(seconds=ENDED_S)
            try:
                found = await in_database(turns_elsewhere, tuple(self._listeners), since=since)
            except Exception:
                logger.exception("Turns of other processes could not be looked for; trying again.")
                continue
            seen = marked_at
            for turn in found:
                for tell in tuple(self._listeners.get(turn.conversation_id, ())):
                    tell(turn)


def _path() -> Path:
    path: Path = settings.CREW_HOME / "turns.mark"
    return path


def _marked_at() -> int:
    try:
        return _path().stat().st_mtime_ns
    except OSError:
        return 0


elsewhere = Elsewhere()

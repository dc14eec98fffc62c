"""The jobs socket: protocol v1 of the README. Reads the rows once a second while somebody watches, and
so tells of every process's jobs."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

from crewsite.accounts.models import Workspace
from crewsite.accounts.sockets import AuthenticatedSocket, still_valid
from crewsite.chat.constants import (
    CLOSE_BUSY,
    CLOSE_NOT_FOUND,
    CLOSE_TOO_BIG,
    CLOSE_UNAUTHENTICATED,
    CONNECTS_PER_MINUTE,
)
from crewsite.chat.limits import RateLimit
from crewsite.chat.payloads import error_frame, frame
from crewsite.chat.sockets import PageSocket
from crewsite.chat.threads import in_database
from crewsite.dashboard.jobs import JobLine, live_jobs

POLL_S: Final = 1.0
# Frames a client may leave unacknowledged. Then it gets none until it answers, and after that the newest
# state in one frame: a slow client costs neither memory nor another's time.
UNACKED_MAX: Final = 4
ACK_MAX_CHARS: Final = 1_000
ACKS_PER_MINUTE: Final = 180
Told = dict[int, dict[str, Any]]


class JobsConsumer(PageSocket):
    """One watcher."""

    connects = RateLimit(CONNECTS_PER_MINUTE)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.acks = RateLimit(ACKS_PER_MINUTE)
        self.seq = self.acked = 0

    async def connect(self) -> None:
        who = await self.let_in()
        if who is None:
            return
        if not await in_database(may_watch, who):
            await self.close(code=CLOSE_NOT_FOUND)
            return
        self.spawn(self._watch(who))
        self.spawn(self.beat())

    async def still_admitted(self) -> bool:
        if self.who is not None and await in_database(still_valid, self.who):
            return True
        await self.close(code=CLOSE_UNAUTHENTICATED)
        return False

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if text_data is None or len(text_data) > ACK_MAX_CHARS:
            await self.close(code=CLOSE_TOO_BIG)
            return
        if not self.acks.allow("socket"):
            await self.close(code=CLOSE_BUSY)
            return
        seq = ack_of(text_data)
        if seq is None:
            told = 'Only {"v": 1, "type": "ack", "seq": N} is understood here.'
            await self.tell(error_frame("bad_frame", told))
        else:
            self.acked = max(self.acked, min(seq, self.seq))

    async def _watch(self, who: AuthenticatedSocket) -> None:
        told: Told | None = None
        while True:
            if self.seq - self.acked < UNACKED_MAX:
                lines = await in_database(watched, who)
                if lines is None:
                    await self.close(code=CLOSE_NOT_FOUND)
                    return
                told = await self._tell(lines, told)
            await asyncio.sleep(POLL_S)

    async def _tell(self, lines: list[JobLine], told: Told | None) -> Told:
        """Send what differs from what was told; the first time, everything as `hello`."""
        now = {line.job.pk: line.fields() for line in lines}
        changed = [line for line in lines if told is None or told.get(line.job.pk) != now[line.job.pk]]
        if told is None or changed or list(told) != list(now):
            self.seq += 1
            jobs = await in_database(rendered, changed)
            kind = "hello" if told is None else "jobs"
            await self.tell(frame(kind, seq=self.seq, jobs=jobs, order=list(now)))
        return now


def may_watch(who: AuthenticatedSocket) -> bool:
    """Somebody with a workspace, through a token that reads."""
    if who.token is not None and "read" not in who.token.scopes:
        return False
    return who.user.is_superuser or Workspace.objects.for_user(who.user).exists()


def watched(who: AuthenticatedSocket) -> list[JobLine] | None:
    """What this person may see now, as what they are now; None once that is nothing at all."""
    who.user.refresh_from_db(fields=["is_active", "is_superuser"])
    if not may_watch(who):
        return None
    return live_jobs(who.user, token=who.token)


def ack_of(text: str) -> int | None:
    """The number a client acknowledges, or None for any other frame."""
    try:
        asked = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(asked, dict) or (asked.get("v"), asked.get("type")) != (1, "ack"):
        return None
    seq = asked.get("seq")
    return seq if isinstance(seq, int) and not isinstance(seq, bool) and seq >= 0 else None


def rendered(lines: list[JobLine]) -> list[dict[str, Any]]:
    return [{**line.fields(), "html": line.html()} for line in lines]

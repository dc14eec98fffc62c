"""Turns whose process is gone: closed by whoever finds them, at the start of a process, when a socket opens,
or by a worker."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from crewsite.chat.answers import answer_html
from crewsite.chat.constants import INTERRUPTED, STALE_QUEUED_S, STALE_TURN_S
from crewsite.chat.models import Turn
from crewsite.chat.services import calls_ended, wind_up
from crewsite.conversations.services import message_update
from crewsite.jobs.leases import process_owner

# How long the row of an open turn may stand still before its process counts as gone.
_ALLOWED_STILLNESS: Final = {
    Turn.State.QUEUED.value: timedelta(seconds=STALE_QUEUED_S),
    Turn.State.RUNNING.value: timedelta(seconds=STALE_TURN_S),
}


def turns_interrupt(*, now: datetime | None = None, by_process: bool = True) -> int:
    """Close the turns whose process is gone: failed, retryable, partial answers marked `interrupted`."""
    now = now or timezone.now()
    open_turns = Turn.objects.filter(state__in=_ALLOWED_STILLNESS)
    foreign = open_turns.exclude(runner=process_owner()).select_related("user_message", "assistant_message")
    lost = [t for t in foreign if _is_stale(t, now) or (by_process and _process_is_gone(t.runner))]
    return sum(_interrupt(turn, now) for turn in lost)


def _is_stale(turn: Turn, now: datetime) -> bool:
    return turn.heartbeat_at is None or turn.heartbeat_at < now - _ALLOWED_STILLNESS[turn.state]


def turns_reap() -> int:
    """The same by heartbeat alone, for a worker: in a container it may not see who runs a turn."""
    return turns_interrupt(by_process=False)


def _interrupt(turn: Turn, now: datetime) -> bool:
    answer = turn.assistant_message
    html = answer_html(answer.content, answer.tool_calls) if answer else ""  # before the lock
    with transaction.atomic():
        claimed = Turn.objects.filter(pk=turn.pk, state=turn.state, runner=turn.runner).update(
            state=Turn.State.FAILED, error=INTERRUPTED, retryable=True, finished_at=now
        )
        if claimed:
            wind_up(turn)
        if claimed and answer is not None:
            message_update(
                message=answer,
                content=answer.content,
                tool_calls=calls_ended(answer.tool_calls),
                finish_reason="interrupted",
                html=html,
                with_vectors=False,
            )
    return bool(claimed)


def _process_is_gone(runner: str) -> bool:
    """Whether the process named `host:pid:random` surely no longer runs; other hosts are judged by heartbeat
    alone."""
    host, _, rest = runner.partition(":")
    pid = rest.partition(":")[0]
    if host != process_owner().partition(":")[0] or not pid.isdigit():
        return False
    if int(pid) == os.getpid():
        return runner != process_owner()
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False

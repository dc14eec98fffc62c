"""What others wrote in a group channel, with every message answered there: short lines, inside a fence."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from crewsite.security.fencing import fence
from crewsite.security.redaction import redact
from crewsite.security.screening import screen
from memory.context.constants import (
    AUTHORITY_CHANNEL,
    CHANNEL_LINE_CHARS,
    CHANNEL_LINES,
    CHANNEL_NAME_CHARS,
    MARKER_CHANNEL,
    MARKER_CHANNEL_END,
    MARKER_CHANNEL_THREAD,
)
from memory.context.cuts import cut_words
from memory.context.packet import Block, BlockState, Placement
from memory.context.stored import stored_line

if TYPE_CHECKING:
    import datetime as dt

    from memory.context.request import ChannelLine, ContextRequest

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_HOURS_SHOWN = 48  # chapter 09, 9.7: days from there on
# Structure is disarmed where it stands; a line is dropped for what it orders.
_DISARMED: Final = frozenset({"system_tag", "instructions_tag", "forged_marker"})


class ChannelSource:
    """The lines come with the request: only the gateway of a channel knows them."""

    name: ClassVar[str] = "channel"
    is_memory: ClassVar[bool] = False

    def collect(self, request: ContextRequest) -> list[Block]:
        lines = request.channel[-CHANNEL_LINES:]
        if not lines:
            return []
        kept = [line for line in lines if not _orders(f"{line.name}: {line.text}")]
        dropped = len(lines) - len(kept)
        reason = f"{dropped} of {len(lines)} lines left out: they read like instructions" if dropped else ""
        shown = BlockState.TRIMMED if dropped else BlockState.ADMITTED
        return [
            Block(
                name=self.name,
                marker=MARKER_CHANNEL,
                authority=AUTHORITY_CHANNEL,
                text=_framed(kept, request) if kept else "",
                state=shown if kept else BlockState.OMITTED,
                reason=reason,
                left_out_count=dropped,
                placement=Placement.MESSAGE,
            )
        ]


def _orders(text: str) -> bool:
    return not _DISARMED.issuperset(screen(text, where="channel").families)


def _framed(lines: list[ChannelLine], request: ContextRequest) -> str:
    body = "\n".join(_rendered(line, request.now) for line in lines)
    fenced = fence(
        body, kind="messages", origin="other people in this channel", conversation=request.conversation.pk
    )
    thread = [MARKER_CHANNEL_THREAD] if all(line.in_thread for line in lines) else []
    return "\n".join([MARKER_CHANNEL, *thread, fenced, MARKER_CHANNEL_END])


def _rendered(line: ChannelLine, now: dt.datetime) -> str:
    """Redacted before the cut: half a credential would pass."""
    name = cut_words(stored_line(line.name), CHANNEL_NAME_CHARS)
    said = stored_line(redact(line.text).text)
    return cut_words(f"  {name} ({_age(line.at, now)} ago): {said}", CHANNEL_LINE_CHARS)


def _age(at: dt.datetime, now: dt.datetime) -> str:
    seconds = max(0, int((now - at).total_seconds()))
    if seconds < _MINUTE:
        return f"{seconds}s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < _HOURS_SHOWN * _HOUR:
        return f"{seconds // _HOUR}h"
    return f"{seconds // _DAY}d"

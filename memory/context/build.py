"""Asks every context source for its blocks and assembles them into one packet within the model's budget."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.utils.module_loading import import_string

from crewsite.conversations.models import Conversation, Message
from memory.context.assemble import assemble
from memory.context.caps import resolve_caps
from memory.context.constants import AUTHORITY_FRAME
from memory.context.deadline import embedded_in_time
from memory.context.packet import Block, BlockState, ContextPacket, join_texts
from memory.context.request import (
    ChannelLine,
    ChosenRow,
    ContextRequest,
    ContextSource,
    RepeatingSource,
    SeenRow,
)
from memory.context.windows import resolve_model_window

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

logger = logging.getLogger(__name__)


def context_build(
    conversation: Conversation,
    message: Message | str | None = None,
    *,
    is_new: bool,
    resumed: bool = False,
    model_window: int | None = None,
    now: datetime,
    surface: str = "",
    surface_before: str = "",
    opening_message: str | None = None,
    opening_rows: Sequence[ChosenRow] | None = None,
    seen: Collection[SeenRow] = (),
    channel: Sequence[ChannelLine] = (),
    max_chars: int | None = None,
) -> ContextPacket:
    """The packet for one prompt. Reads only; the same rows, `now` and message give the same bytes.

    `message` is the text being answered, or its row (then the thread history ends before it).
    `model_window` is in tokens; None asks the model registry about the conversation's model. `surface` is
    where this turn happens, when that is not where the conversation started, and `surface_before` where the
    turn before did. `opening_message` is what the opening is chosen for, when that is not `message`, and
    `opening_rows` what was chosen; then `message` may add to it what is not in `seen`. `channel` is what
    others wrote around it.
    `max_chars` holds the packet to less than the ceiling of the window.
    """
    window = model_window if model_window is not None else resolve_model_window(conversation.model)
    text = message.content if isinstance(message, Message) else (message or "")
    opening = text if opening_message is None else opening_message
    searched = (opening if (is_new or resumed) and opening_rows is None else "", text)
    late = conversation.reads_memory and not embedded_in_time(*dict.fromkeys(filter(None, searched)))
    request = ContextRequest(
        conversation=conversation,
        workspace=conversation.workspace,
        home=conversation.workspace.home,
        message=text,
        opening_message=opening,
        opening_rows=None if opening_rows is None else tuple(opening_rows),
        before_seq=message.seq if isinstance(message, Message) else None,
        is_new=is_new,
        resumed=resumed,
        surface=surface or conversation.surface,
        surface_before=surface_before or conversation.surface,
        seen=frozenset(seen),
        channel=tuple(channel),
        caps=resolve_caps(window),
        search_mode="keyword" if late else "auto",
        now=now,
    )
    blocks = [block for source in _sources() for block in _collect(source, request)]
    return assemble(
        blocks,
        ceiling=min(request.caps.ceiling(), max_chars or request.caps.ceiling()),
        mode=conversation.mode,
        model_window=window,
        degraded=("embedding_deadline",) if late else (),
    )


def context_again(conversation: Conversation, rows: Mapping[int, Sequence[SeenRow]]) -> dict[int, str]:
    """What was added to earlier messages (by their id), as it reads now: rows deleted since are gone.

    Rows that did not change give the bytes of the packet that brought them. One query a kind.
    """
    if not conversation.reads_memory or not rows:
        return {}
    home = conversation.workspace.home
    wanted = {row for some in rows.values() for row in some}
    found = []
    for source in map(_repeating, _sources()):
        ids = sorted({pk for kind, pk in wanted if source is not None and kind == source.kind})
        if source is not None and ids:
            found.append((source, source.again(home, ids)))
    texts = {}
    for key, some in rows.items():
        blocks = []
        for source, lines in found:
            said = [lines[pk].text for kind, pk in some if kind == source.kind and pk in lines]
            if said:
                blocks.append("\n".join([source.head, *said]))
        if blocks:
            texts[key] = join_texts(blocks)
    return texts


def _repeating(source: ContextSource) -> RepeatingSource | None:
    return cast("RepeatingSource", source) if hasattr(source, "again") else None


def _collect(source: ContextSource, request: ContextRequest) -> list[Block]:
    """A source that fails costs its own blocks, not the answer; the packet says so."""
    if source.is_memory and not request.conversation.reads_memory:
        return []
    try:
        return source.collect(request)
    except Exception:
        logger.exception("The context source %s failed; its blocks are left out.", source.name)
        return [
            Block(
                name=source.name,
                authority=AUTHORITY_FRAME,
                text="",
                state=BlockState.OMITTED,
                reason="the source failed, see the log",
                degraded=(f"context_source_failed:{source.name}",),
            )
        ]


def _sources() -> tuple[ContextSource, ...]:
    return _load(tuple(settings.CONTEXT_SOURCES))


@lru_cache(maxsize=4)
def _load(paths: tuple[str, ...]) -> tuple[ContextSource, ...]:
    return tuple(import_string(path)() for path in paths)

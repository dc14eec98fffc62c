"""Asks every context source for its blocks and assembles them into one packet within the model's budget."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

from crewsite.conversations.models import Conversation, Message
from memory.context.assemble import assemble
from memory.context.caps import resolve_caps
from memory.context.constants import AUTHORITY_FRAME
from memory.context.deadline import embedded_in_time
from memory.context.packet import Block, BlockState, ContextPacket
from memory.context.request import ContextRequest, ContextSource
from memory.context.windows import resolve_model_window

if TYPE_CHECKING:
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
    max_chars: int | None = None,
) -> ContextPacket:
    """The packet for one prompt. Reads only; the same rows, `now` and message give the same bytes.

    `message` is the text being answered, or its row (then the thread history ends before it).
    `model_window` is in tokens; None asks the model registry about the conversation's model. `surface` is
    where this turn happens, when that is not where the conversation started.
    """
    window = model_window if model_window is not None else resolve_model_window(conversation.model)
    text = message.content if isinstance(message, Message) else (message or "")
    late = bool(text) and (is_new or resumed) and conversation.reads_memory and not embedded_in_time(text)
    request = ContextRequest(
        conversation=conversation,
        workspace=conversation.workspace,
        home=conversation.workspace.home,
        message=text,
        before_seq=message.seq if isinstance(message, Message) else None,
        is_new=is_new,
        resumed=resumed,
        surface=surface or conversation.surface,
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

"""The fixed start of a prompt: critical rules, and where and when the conversation happens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from crewsite.accounts.zones import zone_named
from memory.context.constants import (
    AUTHORITY_FRAME,
    CRITICAL_RULES,
    MARKER_CRITICAL_RULES,
    MARKER_RUNTIME,
    RUNTIME_LABEL_CHARS,
)
from memory.context.cuts import cut_words
from memory.context.packet import Block, Placement
from memory.context.stored import stored_line

if TYPE_CHECKING:
    from memory.context.request import ContextRequest


class PreambleSource:
    """[RUNTIME] is sent again with a later message when it comes over another surface than the one before."""

    name: ClassVar[str] = "preamble"
    is_memory: ClassVar[bool] = False

    def collect(self, request: ContextRequest) -> list[Block]:
        moved = request.surface != request.surface_before
        blocks = []
        if request.opens:
            blocks.append(
                Block(
                    name="critical_rules",
                    marker=MARKER_CRITICAL_RULES,
                    authority=AUTHORITY_FRAME,
                    text=f"{MARKER_CRITICAL_RULES}\n{CRITICAL_RULES}",
                    cap=request.caps.sections.preamble,
                )
            )
        if request.opens:
            blocks.append(_runtime(request))
        elif moved:
            blocks.append(replace(_runtime(request), placement=Placement.MESSAGE))
        return blocks


def _runtime(request: ContextRequest) -> Block:
    """The date, not the time of day: the bytes stay the same, and the model's prompt cache warm, for a
    whole day.
    """
    zone = zone_named(request.workspace.time_zone)
    conversation = request.conversation
    facts = {
        "Date": f"{request.now.astimezone(zone):%A, %Y-%m-%d} ({zone.key})",
        "Workspace": _label(request.workspace.name),
        "Person": _label(conversation.owner.get_full_name() or conversation.owner.get_username()),
        "Surface": request.surface,
        "Project": _label(conversation.project),
        "Memory": str(conversation.get_mode_display()),
    }
    lines = [f"{name}: {value}" for name, value in facts.items() if value]
    return Block(
        name="runtime",
        marker=MARKER_RUNTIME,
        authority=AUTHORITY_FRAME,
        text="\n".join([MARKER_RUNTIME, *lines]),
        cap=request.caps.sections.preamble,
    )


def _label(text: str) -> str:
    return cut_words(stored_line(text), RUNTIME_LABEL_CHARS)

"""What holds for a tool through every door: what a conversation's mode allows, and how long a result may be.
Loads no model library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crewsite.chat.constants import READING_TOOLS, TOOL_RESULT_MAX_CHARS

if TYPE_CHECKING:
    from crewsite.conversations.models import Conversation

CUT_NOTICE: Final = "\n[cut: the result was longer than a conversation may hold]"


def refused(name: str, conversation: Conversation | None) -> str:
    """Why this conversation's mode forbids the tool; empty when it does not."""
    if conversation is None:
        return ""
    if not conversation.reads_memory:
        return "This conversation is temporary: memory is neither read nor written in it."
    if name not in READING_TOOLS and not conversation.writes_memory:
        return "This conversation is incognito: nothing is written to memory from it."
    return ""


def shortened(text: str) -> str:
    if len(text) <= TOOL_RESULT_MAX_CHARS:
        return text
    return text[: TOOL_RESULT_MAX_CHARS - len(CUT_NOTICE)] + CUT_NOTICE

"""What an agent that is not our chat starts from: the packet of a new conversation, as a tool and whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.utils import timezone

from crewsite.conversations.models import Conversation
from crewsite.llm.tools import ToolContext, ToolResult
from memory.context.build import context_build

if TYPE_CHECKING:
    from memory.context.packet import ContextPacket

QUERY_MAX_CHARS: Final = 2_000
# A tool's result is cut at 16,000 (chapter 05, 5.5), and a cut could take the rest of a rule. The window is
# the largest whose sections are at their floor, a fifth of the caps: every section then has its share before
# whole blocks are left out.
TOOL_PACKET_CHARS: Final = 15_500
TOOL_PACKET_WINDOW_TOKENS: Final = 200_000


def memory_context(context: ToolContext, query: str = "") -> ToolResult:
    """The briefing to start work with: standing instructions, rules taught, facts, projects, recent history
    and past events that bear on the task. Call it once, before the first step of a new task or conversation.
    Not for looking up one thing later on: memory_recall does that.

    Args:
        query: What the task or the first message is, in a sentence. Brings past events that bear on it.
    """
    if context.conversation is not None and not context.conversation.reads_memory:
        return ToolResult("This conversation is temporary: memory is not read in it.", {"outcome": "refused"})
    query = query.strip()
    if len(query) > QUERY_MAX_CHARS:
        problem = f"`query` has {len(query):,} characters and may have {QUERY_MAX_CHARS:,}."
        return ToolResult(problem, {"outcome": "refused", "code": "arguments"})
    packet = opening_packet(
        context, query, max_chars=TOOL_PACKET_CHARS, window_tokens=TOOL_PACKET_WINDOW_TOKENS
    )
    return ToolResult(packet.text, _described(packet))


def opening_packet(
    context: ToolContext, query: str = "", *, max_chars: int | None = None, window_tokens: int | None = None
) -> ContextPacket:
    """The packet of a conversation that nobody has begun. Nothing is stored."""
    unsaved = Conversation(owner=context.user, workspace=context.workspace, surface=context.surface)
    return context_build(
        unsaved,
        query,
        is_new=True,
        model_window=window_tokens,
        now=timezone.now(),
        max_chars=max_chars,
    )


def _described(packet: ContextPacket) -> dict[str, Any]:
    return {
        "total_chars": packet.total_chars,
        "degraded": list(packet.degraded),
        "blocks": [
            {"name": block.name, "state": block.state.value, "chars": block.chars, "reason": block.reason}
            for block in packet.blocks
        ],
        "citations": [source.citation for source in packet.sources],
    }

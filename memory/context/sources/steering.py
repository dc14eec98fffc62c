"""Standing instructions people wrote: who the assistant is, and how it works in this workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from memory.context.constants import AUTHORITY_FRAME, MARKER_STEERING
from memory.context.cuts import cut_at_paragraph
from memory.context.packet import Block, BlockState
from memory.context.stored import stored_text

if TYPE_CHECKING:
    from memory.context.request import ContextRequest


class AgentPromptSource:
    """The conversation's own agent prompt, else the workspace's. It shares its cap's size with steering."""

    name: ClassVar[str] = "agent_prompt"
    is_memory: ClassVar[bool] = False

    def collect(self, request: ContextRequest) -> list[Block]:
        text = request.conversation.agent_prompt or request.workspace.agent_prompt
        return _instructions(request, name=self.name, marker="", text=text)


class SteeringSource:
    name: ClassVar[str] = "steering"
    is_memory: ClassVar[bool] = False

    def collect(self, request: ContextRequest) -> list[Block]:
        return _instructions(request, name=self.name, marker=MARKER_STEERING, text=request.workspace.steering)


def _instructions(request: ContextRequest, *, name: str, marker: str, text: str) -> list[Block]:
    said = stored_text(text) if request.opens else ""
    if not said:
        return []
    cap = request.caps.sections.steering
    whole = "\n".join(part for part in (marker, said) if part)
    shown = cut_at_paragraph(whole, cap)
    cut = shown != whole
    return [
        Block(
            name=name,
            marker=marker,
            authority=AUTHORITY_FRAME,
            text=shown,
            cap=cap,
            state=BlockState.TRIMMED if cut else BlockState.ADMITTED,
            reason=f"cut to {len(shown):,} of {len(whole):,} characters" if cut else "",
        )
    ]

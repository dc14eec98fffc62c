"""Layer 3 in a prompt: what happened lately, faded by age."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from memory.context.constants import AUTHORITY_HISTORY, MARKER_MEMORY
from memory.context.packet import Block, BlockState
from memory.context.stored import stored_text
from memory.history import history_render

if TYPE_CHECKING:
    from memory.context.request import ContextRequest

_HEADING = f"{MARKER_MEMORY} Recent history (source: history) [doc:history]"


class HistorySource:
    name: ClassVar[str] = "history"
    is_memory: ClassVar[bool] = True

    def collect(self, request: ContextRequest) -> list[Block]:
        if not request.opens:
            return []
        cap = request.caps.sections.history
        rendered = history_render(workspace=request.workspace, now=request.now, cap=cap - len(_HEADING) - 1)
        if not rendered.text.strip():
            return []
        dropped = rendered.days_dropped
        return [
            Block(
                name=self.name,
                marker=MARKER_MEMORY,
                authority=AUTHORITY_HISTORY,
                text=f"{_HEADING}\n{stored_text(rendered.text)}",
                cap=cap,
                state=BlockState.TRIMMED if dropped else BlockState.ADMITTED,
                reason=f"{dropped} oldest days left out, over the cap of {cap:,} characters"
                if dropped
                else "",
                left_out_count=dropped,
            )
        ]

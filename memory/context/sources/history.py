"""Layer 3 in a prompt: what happened lately, faded by age."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from crewsite.security.text import number_of
from memory.context.constants import AUTHORITY_HISTORY, MARKER_MEMORY
from memory.context.packet import Block, BlockState
from memory.context.stored import stored_text
from memory.history import history_render

if TYPE_CHECKING:
    from memory.context.request import ContextRequest
    from memory.results import HistoryText

_HEADING = f"{MARKER_MEMORY} Recent history (source: history) [doc:history]"


class HistorySource:
    name: ClassVar[str] = "history"
    is_memory: ClassVar[bool] = True

    def collect(self, request: ContextRequest) -> list[Block]:
        if not request.opens:
            return []
        cap = request.caps.sections.history
        rendered = history_render(workspace=request.workspace, now=request.now, cap=cap - len(_HEADING) - 1)
        if not rendered.text and not rendered.days_dropped:
            return []
        reason = _reason(rendered, cap)
        shown = BlockState.TRIMMED if reason else BlockState.ADMITTED
        return [
            Block(
                name=self.name,
                marker=MARKER_MEMORY,
                authority=AUTHORITY_HISTORY,
                text=f"{_HEADING}\n{stored_text(rendered.text)}" if rendered.text else "",
                cap=cap,
                state=shown if rendered.text else BlockState.OMITTED,
                reason=reason,
                left_out_count=rendered.days_dropped,
            )
        ]


def _reason(rendered: HistoryText, cap: int) -> str:
    gone = []
    if rendered.is_newest_shortened:
        gone.append("less of the newest day")
    if rendered.days_dropped:
        gone.append(f"{number_of(rendered.days_dropped, 'oldest day')} left out")
    return f"{', '.join(gone)}: over the cap of {cap:,} characters" if gone else ""

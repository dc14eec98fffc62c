"""Layer 5 in a prompt: the episodes the first message calls for."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from memory.context.constants import (
    AUTHORITY_EPISODIC,
    EPISODIC_INJECT_CHARS,
    EPISODIC_ROW_CHARS,
    EPISODIC_ROWS,
    MARKER_EPISODIC,
)
from memory.context.cuts import cut_words
from memory.context.lines import Line, fit_lines, name_left_out
from memory.context.packet import Block, BlockState, SourceRef
from memory.context.stored import stored_line
from memory.selectors import episodic_search

if TYPE_CHECKING:
    from memory.context.request import ContextRequest
    from memory.results import EpisodicHit


class EpisodicSource:
    name: ClassVar[str] = "episodic"
    is_memory: ClassVar[bool] = True

    def collect(self, request: ContextRequest) -> list[Block]:
        if not request.opens or not request.message.strip():
            return []
        found = episodic_search(
            home=request.home,
            query=request.message,
            limit=EPISODIC_ROWS,
            relevance_filter=True,
            mode=request.search_mode,
            now=request.now,
        )
        cap = min(EPISODIC_INJECT_CHARS, request.caps.sections.episodic)
        if not found.hits:
            return [_empty(cap, found.degraded)]
        fitted = fit_lines(map(_line, found.hits), room=cap - len(MARKER_EPISODIC))
        left_out = tuple(line.source for line in fitted.left_out)
        return [
            Block(
                name=self.name,
                marker=MARKER_EPISODIC,
                authority=AUTHORITY_EPISODIC,
                text="\n".join([MARKER_EPISODIC, *(line.text for line in fitted.kept)]),
                cap=cap,
                sources=tuple(line.source for line in fitted.kept),
                state=BlockState.TRIMMED if left_out else BlockState.ADMITTED,
                reason=name_left_out(left_out, len(left_out), word="episodes", total=len(found.hits)),
                left_out=left_out,
                left_out_count=len(left_out),
                degraded=found.degraded,
            )
        ]


def _empty(cap: int, degraded: tuple[str, ...]) -> Block:
    return Block(
        name=EpisodicSource.name,
        marker=MARKER_EPISODIC,
        authority=AUTHORITY_EPISODIC,
        text="",
        cap=cap,
        state=BlockState.OMITTED,
        reason="no episode fits the message",
        degraded=degraded,
    )


def _line(hit: EpisodicHit) -> Line:
    """The date leads and the id ends the line, so a long text is cut between them."""
    text = cut_words(stored_line(hit.row.text), EPISODIC_ROW_CHARS)
    source = SourceRef(kind="episodic", object_id=hit.row.pk, citation=hit.citation, score=hit.score)
    return Line(f"- {hit.row.created_at:%Y-%m-%d}: {text} [{hit.citation}]", source)

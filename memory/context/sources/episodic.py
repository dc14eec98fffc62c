"""Layer 5 in a prompt: the episodes the first message calls for, and those of a later one that moves on to
something else.
"""

from __future__ import annotations

from dataclasses import replace
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
from memory.context.packet import Block, BlockState, Placement, SourceRef
from memory.context.stored import stored_line
from memory.models import EpisodicMemory
from memory.selectors import episodic_search

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crewsite.accounts.models import Workspace
    from memory.context.request import ContextRequest
    from memory.results import EpisodicHit, EpisodicSearch


class EpisodicSource:
    """A later message is searched like the first; of its hits only new ones are added. One that ranks behind
    as many seen ones as a block holds is no new topic.
    """

    name: ClassVar[str] = "episodic"
    is_memory: ClassVar[bool] = True
    kind: ClassVar[str] = "episodic"
    head: ClassVar[str] = MARKER_EPISODIC

    def collect(self, request: ContextRequest) -> list[Block]:
        cap = min(EPISODIC_INJECT_CHARS, request.caps.sections.episodic)
        blocks = [_opening(request, cap)] if request.opens and request.opening_message.strip() else []
        if request.is_later:
            seen = request.seen | {(source.kind, source.object_id) for b in blocks for source in b.sources}
            found = _search(request, request.message)
            new = [_hit_line(hit) for hit in found.hits if (self.kind, hit.row.pk) not in seen]
            if new:
                block = _block(new, cap, degraded=found.degraded)
                blocks.append(replace(block, placement=Placement.MESSAGE))
        return blocks

    def again(self, home: Workspace, ids: Sequence[int]) -> Mapping[int, Line]:
        return _read(home, dict.fromkeys(ids))


def _opening(request: ContextRequest, cap: int) -> Block:
    chosen = request.chosen(EpisodicSource.kind)
    if chosen is None:
        found = _search(request, request.opening_message)
        return _block([_hit_line(hit) for hit in found.hits], cap, degraded=found.degraded)
    rows = _read(request.home, chosen) if chosen else {}
    return _block([rows[pk] for pk in chosen if pk in rows], cap)


def _read(home: Workspace, scores: Mapping[int, float | None]) -> dict[int, Line]:
    rows = EpisodicMemory.objects.in_home(home).filter(pk__in=list(scores))
    return {row.pk: _line(row, score=scores[row.pk]) for row in rows}


def _search(request: ContextRequest, query: str) -> EpisodicSearch:
    return episodic_search(
        home=request.home,
        query=query,
        limit=EPISODIC_ROWS,
        relevance_filter=True,
        mode=request.search_mode,
        now=request.now,
    )


def _block(lines: Sequence[Line], cap: int, *, degraded: tuple[str, ...] = ()) -> Block:
    if not lines:
        return _empty(cap, degraded)
    fitted = fit_lines(lines, room=cap - len(MARKER_EPISODIC))
    left_out = tuple(line.source for line in fitted.left_out)
    return Block(
        name=EpisodicSource.name,
        marker=MARKER_EPISODIC,
        authority=AUTHORITY_EPISODIC,
        text="\n".join([MARKER_EPISODIC, *(line.text for line in fitted.kept)]),
        cap=cap,
        sources=tuple(line.source for line in fitted.kept),
        state=BlockState.TRIMMED if left_out else BlockState.ADMITTED,
        reason=name_left_out(left_out, len(left_out), word="episodes", total=len(lines)),
        left_out=left_out,
        left_out_count=len(left_out),
        degraded=degraded,
    )


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


def _hit_line(hit: EpisodicHit) -> Line:
    return _line(hit.row, score=hit.score)


def _line(row: EpisodicMemory, *, score: float | None) -> Line:
    """The date leads and the id ends the line, so a long text is cut between them."""
    text = cut_words(stored_line(row.text), EPISODIC_ROW_CHARS)
    citation = f"epi:{row.pk}"
    source = SourceRef(kind=EpisodicSource.kind, object_id=row.pk, citation=citation, score=score)
    return Line(f"- {row.created_at:%Y-%m-%d}: {text} [{citation}]", source)

"""Layer 6 in a prompt: the rules people taught, whole or not at all, with a loud notice when there are too
many.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from lessons.called import lessons_called_for
from lessons.constants import LEFT_OUT_NAMED, MAX_RENDERED
from lessons.models import Lesson
from lessons.selectors import ContextLessons, lessons_for_context
from memory.context.constants import AUTHORITY_LESSONS, LESSONS_CALLED, LESSONS_CALLED_CHARS
from memory.context.lines import Line, fit_lines, name_left_out
from memory.context.packet import Block, BlockState, Placement, SourceRef
from memory.context.stored import stored_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crewsite.accounts.models import Workspace
    from memory.context.request import ContextRequest

logger = logging.getLogger(__name__)

MARKER: Final = "[Learned corrections]"
HEADER: Final = f"{MARKER}\nALWAYS follow these. They override default behavior."
NOTICE: Final = (
    "[CRITICAL ERROR — LESSONS FILE TOO LARGE]\n{left_out}. The lessons below hold; those do not. Tell "
    "the user so in your answer, and offer to remove some with learn_remove.\n"
)
# The notice's room is set aside before it is known which lessons it names: a citation has 24 characters at
# most.
NOTICE_MAX_CHARS: Final = len(NOTICE) + 100 + LEFT_OUT_NAMED * 26


class LessonsSource:
    """All rules that fit stand in the opening. A later message brings a few more that it calls for and the
    conversation was not told: those that did not fit, and new ones where the opening stays as it was.
    """

    name: ClassVar[str] = "lessons"
    is_memory: ClassVar[bool] = True
    kind: ClassVar[str] = "lesson"
    head: ClassVar[str] = HEADER

    def collect(self, request: ContextRequest) -> list[Block]:
        blocks = self._opening(request) if request.opens else []
        told_all = request.opens and not any(block.left_out_count for block in blocks)
        if not request.is_later or told_all:
            return blocks
        told = {source.object_id for block in blocks for source in block.sources}
        told |= {pk for kind, pk in request.seen if kind == self.kind}
        return [*blocks, *_called_for(request, told)]

    def again(self, home: Workspace, ids: Sequence[int]) -> Mapping[int, Line]:
        rows = Lesson.objects.in_home(home).filter(pk__in=ids).only("rule", "negative")
        return {row.pk: _line(row) for row in rows}

    def _opening(self, request: ContextRequest) -> list[Block]:
        lessons = lessons_for_context(request.home, project=request.conversation.project)
        if not lessons.rows:
            return []
        cap = request.caps.sections.lessons
        kept = _complete(lessons, room=cap - len(HEADER))
        if len(kept) == lessons.total:
            return [_block(kept, cap)]
        left = [_source(row) for row in lessons.rows[len(kept) :]][:LEFT_OUT_NAMED]
        count = lessons.total - len(kept)
        reason = name_left_out(left, count, word="lessons", total=lessons.total)
        logger.error("The context of memory home %s is short of lessons: %s.", request.home.pk, reason)
        return [
            _block(kept, cap, notice=NOTICE.format(left_out=reason), reason=reason, left=left, count=count)
        ]


def _called_for(request: ContextRequest, told: set[int]) -> list[Block]:
    """A rule too long for the room is skipped, and not told in part."""
    cap = min(LESSONS_CALLED_CHARS, request.caps.sections.lessons)
    called, degraded = lessons_called_for(
        request.home,
        message=request.message,
        project=request.conversation.project,
        seen=told,
        limit=LESSONS_CALLED,
        mode=request.search_mode,
    )
    lines = [replace(_line(hit.row), source=_source(hit.row, hit.score)) for hit in called]
    kept = fit_lines(lines, room=cap - len(HEADER)).kept
    if not kept:
        return []
    block = _block(kept, cap)
    return [replace(block, placement=Placement.MESSAGE, degraded=degraded)]


def _complete(lessons: ContextLessons, *, room: int) -> list[Line]:
    """The first lessons that fit, none cut. When not all do, the notice takes its room before them."""
    kept = _first_that_fit(list(map(_line, lessons.rows[:MAX_RENDERED])), room)
    if len(kept) == lessons.total:
        return kept
    return _first_that_fit(kept, room - NOTICE_MAX_CHARS)


def _first_that_fit(lines: Sequence[Line], room: int) -> list[Line]:
    kept: list[Line] = []
    for line in lines:
        room -= len(line.text) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def _block(
    kept: Sequence[Line],
    cap: int,
    *,
    notice: str = "",
    reason: str = "",
    left: Sequence[SourceRef] = (),
    count: int = 0,
) -> Block:
    return Block(
        name=LessonsSource.name,
        marker=MARKER,
        authority=AUTHORITY_LESSONS,
        text=notice + "\n".join([HEADER, *(line.text for line in kept)]),
        cap=cap,
        sources=tuple(line.source for line in kept),
        state=BlockState.TRIMMED if count else BlockState.ADMITTED,
        reason=reason,
        left_out=tuple(left),
        left_out_count=count,
    )


def _line(row: Lesson) -> Line:
    return Line(f"- {stored_line(row.rendered)} [{row.citation}]", _source(row))


def _source(row: Lesson, score: float | None = None) -> SourceRef:
    return SourceRef(kind=LessonsSource.kind, object_id=row.pk, citation=row.citation, score=score)

"""Layer 6 in a prompt: the rules people taught, whole or not at all, with a loud notice when there are too
many.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, ClassVar, Final

from lessons.constants import LEFT_OUT_NAMED, MAX_RENDERED
from lessons.selectors import ContextLessons, lessons_for_context
from memory.context.constants import AUTHORITY_LESSONS
from memory.context.lines import Line, name_left_out
from memory.context.packet import Block, BlockState, SourceRef
from memory.context.stored import stored_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lessons.models import Lesson
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
    name: ClassVar[str] = "lessons"
    is_memory: ClassVar[bool] = True

    def collect(self, request: ContextRequest) -> list[Block]:
        if not request.opens:
            return []
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


def _source(row: Lesson) -> SourceRef:
    return SourceRef(kind="lesson", object_id=row.pk, citation=row.citation)

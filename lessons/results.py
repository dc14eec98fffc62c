"""What lesson services answer: frozen values. A refusal is an answer, never an exception."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from lessons.models import Lesson

WriteOutcome = Literal["inserted", "unchanged", "enriched", "replaced", "refused"]


@dataclass(frozen=True, slots=True)
class LessonResult:
    """`row` is the live lesson that now says it: the new one, or the old one when `unchanged`. None when
    refused.

    `superseded` are the ids of the lessons the new one took the place of; `lesson_undo` brings them back.
    `code` and `message` explain a refusal: the first for programs, the second for people.
    """

    outcome: WriteOutcome
    row: Lesson | None = None
    superseded: tuple[int, ...] = ()
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class LessonRemoval:
    """`candidates` is filled instead of `removed` when a query meets several lessons and `all` was not
    asked for.
    """

    removed: tuple[Lesson, ...] = ()
    candidates: tuple[Lesson, ...] = ()


@dataclass(frozen=True, slots=True)
class LessonUndo:
    """What undoing a lesson did: whether it was taken back, and the lessons that are live again."""

    undone: bool
    restored: tuple[Lesson, ...] = ()


@dataclass(frozen=True, slots=True)
class LessonChange:
    """The answer of an edit, a pin or a restore. `row` is the lesson as it stands now."""

    outcome: Literal["changed", "unchanged", "refused"]
    row: Lesson
    code: str = ""
    message: str = ""

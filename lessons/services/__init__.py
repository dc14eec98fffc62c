"""Every write to lessons. Doors import from here; which file holds a topic is this package's business."""

from lessons.services.applied import lessons_applied
from lessons.services.change import (
    lesson_delete,
    lesson_edit,
    lesson_pin,
    lesson_remove,
    lesson_restore,
    lesson_undo,
    lessons_matching,
)
from lessons.services.review import review_accept, review_reopen
from lessons.services.write import lesson_write

__all__ = [
    "lesson_delete",
    "lesson_edit",
    "lesson_pin",
    "lesson_remove",
    "lesson_restore",
    "lesson_undo",
    "lesson_write",
    "lessons_applied",
    "lessons_matching",
    "review_accept",
    "review_reopen",
]

"""Every write to lessons. Doors import from here; which file holds a topic is this package's business."""

from lessons.services.change import (
    lesson_delete,
    lesson_edit,
    lesson_pin,
    lesson_remove,
    lesson_restore,
    lesson_undo,
)
from lessons.services.review import review_accept
from lessons.services.write import lesson_write

__all__ = [
    "lesson_delete",
    "lesson_edit",
    "lesson_pin",
    "lesson_remove",
    "lesson_restore",
    "lesson_undo",
    "lesson_write",
    "review_accept",
]

"""Rows of tool calls that wait for the person: asked by one process, answered through any. How long one waits
is `permissions`'."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from crewsite.chat.models import ToolQuestion, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID


def question_ask(*, turn_id: UUID, call_id: str, choices: Iterable[str]) -> ToolQuestion:
    """A call that asks again, such as in a retry, is a question of its own: no earlier answer counts for
    it."""
    with transaction.atomic():
        ToolQuestion.objects.filter(turn_id=turn_id, call_id=call_id, is_open=True).update(is_open=False)
        return ToolQuestion.objects.create(turn_id=turn_id, call_id=call_id, choices=sorted(choices))


def question_answer(*, turn_id: UUID, call_id: str, choice: str) -> ToolQuestion | None:
    """None: no such question waits, or not any more, or that is none of its choices. The first answer
    counts."""
    waiting = ToolQuestion.objects.filter(
        turn_id=turn_id, call_id=call_id, is_open=True, turn__state=Turn.State.RUNNING
    )
    question = waiting.last()
    if question is None or choice not in question.choices:
        return None
    return question if _close(question.pk, choice) else None


def question_choice(question_id: int) -> str:
    """What was answered so far; empty while it waits."""
    return ToolQuestion.objects.filter(pk=question_id).values_list("choice", flat=True).first() or ""


def question_give_up(question_id: int) -> str:
    """Closes a question that was not answered; returns the answer that came just before."""
    return "" if _close(question_id, "") else question_choice(question_id)


def questions_close(turn_id: UUID) -> None:
    """A turn that is over waits for nobody."""
    ToolQuestion.objects.filter(turn_id=turn_id, is_open=True).update(is_open=False)


def _close(question_id: int, choice: str) -> bool:
    answered_at = timezone.now() if choice else None
    mine = ToolQuestion.objects.filter(pk=question_id, is_open=True)
    return bool(mine.update(is_open=False, choice=choice, answered_at=answered_at))

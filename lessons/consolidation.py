"""Implicit corrections in the history pass: memory asks the model for them, and they come in like any
lesson.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, Field

from lessons.constants import RULE_MAX_CHARS
from lessons.models import Lesson
from lessons.rules import draft_of
from lessons.services import lesson_write
from lessons.services.index import KIND, compare
from lessons.services.record import live_rules
from memory.models import ConsolidationReceipt
from memory.prompts import Prompt, prompt_load

if TYPE_CHECKING:
    from memory.consolidation.extensions import WriteContext
    from memory.consolidation.outcomes import Ledger

# Seed 004, `_MAX_LESSONS_PER_CONSOLIDATION`: each write compares itself with its neighbours.
LESSONS_MAX: Final = 10
PROMPT: Final = Path(__file__).parent / "prompts" / "implicit_lessons.md"


class LessonOut(BaseModel):
    rule: str
    negative: str = Field(default="", description="What the assistant did instead, if that was the mistake.")
    category: Literal["tool", "preference", "knowledge"] = "knowledge"


class LessonsExtension:
    """See `memory.consolidation.extensions.Extension`."""

    name = "lessons"
    layer = KIND
    path = str(ConsolidationReceipt.Path.HISTORY)
    max_items = LESSONS_MAX
    item: type[BaseModel] = LessonOut

    def prompt(self) -> tuple[Prompt, dict[str, object]]:
        return prompt_load(PROMPT), {"lessons_max": LESSONS_MAX, "rule_max_chars": RULE_MAX_CHARS}

    def texts(self, item: LessonOut) -> dict[str, str]:
        return {"rule": item.rule, "negative": item.negative}

    def embed_ahead(self, items: Sequence[LessonOut], context: WriteContext) -> None:
        for item in items:
            draft = draft_of(
                rule=item.rule, negative=item.negative, category=item.category, scope="", pinned=False
            )
            compare(context.home, draft, live_rules(context.home, draft.scope))

    def write(self, items: Sequence[LessonOut], context: WriteContext, ledger: Ledger) -> None:
        for item in items:
            result = lesson_write(
                home=context.home,
                rule=item.rule,
                negative=item.negative,
                category=Lesson.Category(item.category),
                origin=context.origin,
                now=context.now,
            )
            if result.outcome == "refused":
                ledger.refuse(KIND, item.rule, code=result.code, message=result.message)
            elif result.outcome == "unchanged" or result.row is None:
                ledger.count(KIND, result.outcome)
            else:
                ledger.wrote(KIND, result.outcome, result.row.pk)

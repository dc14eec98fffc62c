"""Tool calls that wait for the person: what they are asked, how long, what they chose. Shared by the tools
of a model and by agents that ask for themselves. The question is a row, so any process may take its answer;
what waits belongs to one event loop."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from crewsite.chat.constants import ANSWER_LOOK_EVERY_S, PERMISSION_TIMEOUT_S
from crewsite.chat.questions import question_answer, question_ask, question_choice, question_give_up
from crewsite.chat.storable import storable_value
from crewsite.chat.threads import in_database

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class Option:
    """One button under the question."""

    id: str
    label: str
    allows: bool


ALLOW_OR_DENY: Final = (Option("allow", "Allow", allows=True), Option("deny", "Deny", allows=False))


class ToolSink(Protocol):
    """Where tool calls are shown."""

    def add_tool(self, call: dict[str, Any]) -> None: ...


class Permissions:
    """The questions that wait in this process, by the id of their row."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Event] = {}

    async def wait(self, question_id: int) -> str:
        """The choice of the person, given to this process or another; empty after 60 s of silence."""
        now = asyncio.get_running_loop().time
        answered = self._waiting[question_id] = asyncio.Event()
        gives_up_at = now() + PERMISSION_TIMEOUT_S
        try:
            while (left_s := gives_up_at - now()) > 0:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(answered.wait(), min(left_s, ANSWER_LOOK_EVERY_S))
                if choice := await in_database(question_choice, question_id):
                    return choice
            return await in_database(question_give_up, question_id)
        finally:
            del self._waiting[question_id]

    async def answer(self, turn_id: UUID, call_id: str, choice: str) -> bool:
        """False: no such question waits, or not any more, or that is none of its choices."""
        question = await in_database(question_answer, turn_id=turn_id, call_id=call_id, choice=choice)
        if question is None:
            return False
        if question.pk in self._waiting:
            self._waiting[question.pk].set()
        return True


permissions = Permissions()


async def ask_person(
    sink: ToolSink, turn_id: UUID, call: dict[str, Any], options: Sequence[Option] = ALLOW_OR_DENY
) -> Option | None:
    """Show the call with its options and wait; what was chosen, or None for no answer, which is a no.

    The call is shown as running or denied afterwards.
    """
    by_id: dict[str, Option] = {storable_value(option.id): option for option in options}
    question = await in_database(
        question_ask, turn_id=turn_id, call_id=storable_value(call["id"]), choices=by_id
    )
    shown = [{"id": o.id, "label": o.label, "allows": o.allows} for o in options]
    sink.add_tool({**call, "state": "asking", "choices": shown})
    chosen = by_id.get(await permissions.wait(question.pk))
    allowed = chosen is not None and chosen.allows
    sink.add_tool({**call, "state": "running" if allowed else "denied"})
    return chosen

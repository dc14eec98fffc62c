"""Tool calls that wait for the person: what they are asked, how long, what they chose. Shared by the tools
of a model and by agents that ask for themselves. Belongs to one event loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from crewsite.chat.constants import PERMISSION_TIMEOUT_S

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
    """The questions that wait in this process."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[UUID, str], tuple[frozenset[str], asyncio.Future[str]]] = {}

    async def wait(self, turn_id: UUID, call_id: str, choices: frozenset[str]) -> str | None:
        """The choice of the person; None after 60 s of silence."""
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[turn_id, call_id] = (choices, future)
        try:
            async with asyncio.timeout(PERMISSION_TIMEOUT_S):
                return await future
        except TimeoutError:
            return None
        finally:
            self._waiting.pop((turn_id, call_id), None)

    def answer(self, turn_id: UUID, call_id: str, choice: str) -> bool:
        """False: no such question waits here, or any more, or that is none of its choices."""
        choices, future = self._waiting.get((turn_id, call_id), (frozenset(), None))
        if future is None or future.done() or choice not in choices:
            return False
        future.set_result(choice)
        return True


permissions = Permissions()


async def ask_person(
    sink: ToolSink, turn_id: UUID, call: dict[str, Any], options: Sequence[Option] = ALLOW_OR_DENY
) -> Option | None:
    """Show the call with its options and wait; what was chosen, or None for no answer, which is a no.

    The call is shown as running or denied afterwards.
    """
    shown = [{"id": o.id, "label": o.label, "allows": o.allows} for o in options]
    sink.add_tool({**call, "state": "asking", "choices": shown})
    choice = await permissions.wait(turn_id, call["id"], frozenset(o.id for o in options))
    chosen = next((option for option in options if option.id == choice), None)
    allowed = chosen is not None and chosen.allows
    sink.add_tool({**call, "state": "running" if allowed else "denied"})
    return chosen

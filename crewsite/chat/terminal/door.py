"""What the terminal chat needs of a chat, wherever that runs: here or on another site."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crewsite.chat.payloads import Frame


@dataclass(frozen=True, slots=True)
class Opened:
    """The conversation that is talked in."""

    id: str
    title: str
    mode: str
    model: str
    workspace: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a slash command answers."""

    text: str
    ok: bool = True
    data: dict[str, Any] = field(default_factory=dict)


class ChatDoor(Protocol):
    """Raises CommandError where nothing can go on, such as without an answer from the site."""

    def open(self, *, conversation: str, mode: str, model: str) -> Opened:
        """Continue this conversation, or begin one when it is empty."""
        ...

    def is_command(self, text: str) -> bool: ...

    def command(self, text: str) -> Told: ...

    def ask(self, text: str) -> AsyncIterator[Frame]:
        """The frames of a turn, in order; the last one closes it."""
        ...

    async def answer(self, item: Frame, choice: str) -> None:
        """What the person says to a tool call that asks."""
        ...

    async def stop(self) -> Frame | None:
        """Stop the turn that is being answered; the frame that closes it, if it did."""
        ...

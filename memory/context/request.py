"""What a context source is asked for: one conversation, the message it answers, and the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from crewsite.accounts.models import Workspace
    from crewsite.conversations.models import Conversation
    from memory.context.caps import ResolvedCaps
    from memory.context.lines import Line
    from memory.context.packet import Block

SeenRow = tuple[str, int]
ChosenRow = tuple[str, int, float | None]  # kind, id, score


@dataclass(frozen=True, slots=True)
class ChannelLine:
    """One line other people wrote in a group channel, as its gateway noted it."""

    name: str
    text: str
    at: datetime
    in_thread: bool = False


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """`search_mode` is `keyword` once the embedding deadline of the build has passed.

    `before_seq` is the sequence number of the message being answered; the thread ends before it.
    `opening_message` is what the blocks before the conversation are chosen for: its first message, so that
    they stay the same while it goes on. `opening_rows` are those that were chosen then, where that is known:
    they are read again and not searched again. `seen` rows were injected with earlier messages and stand
    there still.
    """

    conversation: Conversation
    workspace: Workspace
    home: Workspace
    message: str
    opening_message: str
    opening_rows: tuple[ChosenRow, ...] | None
    before_seq: int | None
    is_new: bool
    resumed: bool
    surface: str
    surface_before: str
    seen: frozenset[SeenRow]
    channel: tuple[ChannelLine, ...]
    caps: ResolvedCaps
    search_mode: Literal["auto", "keyword"]
    now: datetime

    @property
    def opens(self) -> bool:
        """True when the model starts from nothing of ours: a new conversation, or one it resumed from its
        own records.
        """
        return self.is_new or self.resumed

    def chosen(self, kind: str) -> dict[int, float | None] | None:
        """Rows of a kind the opening was given before, by id in their order, with their scores."""
        if self.opening_rows is None:
            return None
        return {pk: score for of_kind, pk, score in self.opening_rows if of_kind == kind}

    @property
    def is_later(self) -> bool:
        """True when the message is not the one the opening was chosen for, so that it may call for more."""
        return bool(self.message.strip()) and (not self.opens or self.message != self.opening_message)


class ContextSource(Protocol):
    """One entry of `CONTEXT_SOURCES`. A source whose `is_memory` is True is not asked in temporary mode."""

    name: ClassVar[str]
    is_memory: ClassVar[bool]

    def collect(self, request: ContextRequest) -> list[Block]: ...


class RepeatingSource(ContextSource, Protocol):
    """A source that adds rows of one kind to later messages, and can say again what it said there: `head`,
    then a line for each row that is still live.
    """

    kind: ClassVar[str]
    head: ClassVar[str]

    def again(self, home: Workspace, ids: Sequence[int]) -> Mapping[int, Line]: ...

"""What a context source is asked for: one conversation, the message it answers, and the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from crewsite.accounts.models import Workspace
    from crewsite.conversations.models import Conversation
    from memory.context.caps import ResolvedCaps
    from memory.context.packet import Block


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """`search_mode` is `keyword` once the embedding deadline of the build has passed.

    `before_seq` is the sequence number of the message being answered; the thread ends before it.
    """

    conversation: Conversation
    workspace: Workspace
    home: Workspace
    message: str
    before_seq: int | None
    is_new: bool
    resumed: bool
    surface: str
    caps: ResolvedCaps
    search_mode: Literal["auto", "keyword"]
    now: datetime

    @property
    def opens(self) -> bool:
        """True when the model starts from nothing of ours: a new conversation, or one it resumed from its
        own records.
        """
        return self.is_new or self.resumed


class ContextSource(Protocol):
    """One entry of `CONTEXT_SOURCES`. A source whose `is_memory` is True is not asked in temporary mode."""

    name: ClassVar[str]
    is_memory: ClassVar[bool]

    def collect(self, request: ContextRequest) -> list[Block]: ...

"""A hint for surfaces where a person can answer at once: offer choices so that one word decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from crewsite.security.origin import Surface
from memory.context.constants import AUTHORITY_FRAME, REPLY_OPTIONS
from memory.context.packet import Block, Placement

if TYPE_CHECKING:
    from memory.context.request import ContextRequest

INTERACTIVE: Final = frozenset({Surface.WEB, Surface.SLACK_DM, Surface.SLACK_CHANNEL, Surface.CLI})


class ReplyOptionsSource:
    """In the opening where there is one, which stands before every message; else with the message."""

    name: ClassVar[str] = "reply_options"
    is_memory: ClassVar[bool] = False

    def collect(self, request: ContextRequest) -> list[Block]:
        if request.surface not in INTERACTIVE:
            return []
        placement = Placement.OPENING if request.opens else Placement.MESSAGE
        return [Block(name=self.name, authority=AUTHORITY_FRAME, text=REPLY_OPTIONS, placement=placement)]

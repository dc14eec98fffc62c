"""The values a context build produces: blocks, where their lines came from, and what was left out. No
reading, no policy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from memory.context.constants import BLOCK_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Mapping


class Placement(StrEnum):
    """Where a block stands in a prompt: before the conversation, or with the message being answered."""

    OPENING = "opening"
    MESSAGE = "message"


class BlockState(StrEnum):
    ADMITTED = "admitted"
    TRIMMED = "trimmed"
    OMITTED = "omitted"


@dataclass(frozen=True, slots=True)
class SourceRef:
    """One row behind a line of a block. `citation` is what the line ends with: `epi:412`."""

    kind: str
    object_id: int
    citation: str
    score: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "object_id": self.object_id,
            "citation": self.citation,
            "score": self.score,
        }


@dataclass(frozen=True, slots=True)
class Block:
    """One part of the prompt. `text` holds the marker line too; it is empty when the block is omitted.

    `authority` 0 is the frame (rules, identity, steering, thread); 1 to 6 is the ladder of layers, 1 the
    highest; 7 are the words of others. `cap` is what the section may take, in characters. `left_out` names
    rows that did not fit, at most a few; `left_out_count` counts them all. `over_budget` blocks had a text,
    and gave way to others.
    """

    name: str
    authority: int
    text: str
    marker: str = ""
    cap: int | None = None
    sources: tuple[SourceRef, ...] = ()
    state: BlockState = BlockState.ADMITTED
    reason: str = ""
    left_out: tuple[SourceRef, ...] = ()
    left_out_count: int = 0
    over_budget: bool = False
    degraded: tuple[str, ...] = ()
    placement: Placement = Placement.OPENING

    @property
    def chars(self) -> int:
        return len(self.text)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "marker": self.marker,
            "authority": self.authority,
            "placement": self.placement.value,
            "state": self.state.value,
            "reason": self.reason,
            "chars": self.chars,
            "cap": self.cap,
            "text": self.text,
            "sources": [source.as_json() for source in self.sources],
            "left_out": [source.as_json() for source in self.left_out],
            "left_out_count": self.left_out_count,
        }


@dataclass(frozen=True, slots=True)
class ContextPacket:
    """Everything assembled for one prompt, in the order it is rendered, omitted blocks included.

    The person's own text is not part of it: whoever sends the prompt puts that last, unaltered.
    """

    blocks: tuple[Block, ...]
    ceiling_chars: int
    mode: str
    degraded: tuple[str, ...] = ()
    model_window: int | None = None
    text: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", join_texts([block.text for block in self.blocks]))

    @property
    def opening(self) -> str:
        """What stands before the conversation: the same for all its messages while the rows are the same."""
        return self._placed(Placement.OPENING)

    @property
    def with_message(self) -> str:
        """What stands with the message being answered; on most messages nothing."""
        return self._placed(Placement.MESSAGE)

    def _placed(self, placement: Placement) -> str:
        return join_texts([block.text for block in self.blocks if block.placement == placement])

    @property
    def total_chars(self) -> int:
        return len(self.text)

    @property
    def sources(self) -> tuple[SourceRef, ...]:
        """Every row that reached the prompt, in prompt order."""
        return tuple(source for block in self.blocks for source in block.sources if block.text)

    def block(self, name: str) -> Block | None:
        return next((block for block in self.blocks if block.name == name), None)

    def as_json(self) -> dict[str, Any]:
        """What a turn stores. The rendered text is not kept twice: `packet_text` joins it again."""
        return {
            "version": 1,
            "mode": self.mode,
            "model_window": self.model_window,
            "ceiling_chars": self.ceiling_chars,
            "total_chars": self.total_chars,
            "degraded": list(self.degraded),
            "blocks": [block.as_json() for block in self.blocks],
        }


def join_texts(texts: list[str]) -> str:
    return BLOCK_SEPARATOR.join(text for text in texts if text)


def packet_text(stored: Mapping[str, Any]) -> str:
    """The rendered text of a packet stored by `ContextPacket.as_json`."""
    return join_texts([block["text"] for block in stored.get("blocks", ())])

"""Puts blocks in order, keeps them within the ceiling and says what was left out. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memory.context.constants import AUTHORITY_FRAME, AUTHORITY_HISTORY, AUTHORITY_LINE, OMITTED_LINE
from memory.context.cuts import cut_at_line
from memory.context.packet import Block, BlockState, ContextPacket, Placement, join_texts

if TYPE_CHECKING:
    from collections.abc import Iterable


def assemble(
    blocks: Iterable[Block],
    *,
    ceiling: int,
    mode: str,
    degraded: tuple[str, ...] = (),
    model_window: int | None = None,
) -> ContextPacket:
    """The packet of these blocks: the opening, then what stands with the message; in each the frame first,
    then the ladder, highest authority first. Never over the ceiling.
    """
    given = list(blocks)
    ordered = sorted(given, key=lambda block: (block.placement == Placement.MESSAGE, block.authority))
    kept = _cut_to(_drop_to(ordered, ceiling), ceiling)
    return ContextPacket(
        blocks=tuple(_with_lines(kept)),
        ceiling_chars=ceiling,
        mode=mode,
        degraded=tuple(dict.fromkeys([*degraded, *(item for block in given for item in block.degraded)])),
        model_window=model_window,
    )


def _drop_to(blocks: list[Block], ceiling: int) -> list[Block]:
    """Takes whole blocks out, lowest authority first and the last of equals first, until the rest fits."""
    kept = list(blocks)
    while _chars(kept) > ceiling:
        droppable = [i for i, block in enumerate(kept) if block.text and block.authority > AUTHORITY_FRAME]
        if not droppable:
            break
        index = max(droppable, key=lambda i: (kept[i].authority, i))
        dropped = kept[index]
        kept[index] = replace(
            dropped,
            text="",
            state=BlockState.OMITTED,
            reason=f"over the budget of {ceiling:,} characters: this block has {dropped.chars:,}",
            left_out=dropped.sources,
            left_out_count=len(dropped.sources) + dropped.left_out_count,
            sources=(),
            over_budget=True,
        )
    return kept


def _cut_to(blocks: list[Block], ceiling: int) -> list[Block]:
    """Last resort: only the frame is left and still too long, so its longest blocks are cut at a line."""
    kept = list(blocks)
    while (excess := _chars(kept) - ceiling) > 0:
        index = max(range(len(kept)), key=lambda i: kept[i].chars)
        longest = kept[index]
        if not longest.text:
            break
        text = cut_at_line(longest.text, max(0, longest.chars - excess))
        if not text:
            reason = f"over the budget of {ceiling:,} characters: this block has {longest.chars:,}"
            kept[index] = replace(longest, text="", state=BlockState.OMITTED, reason=reason, over_budget=True)
        else:
            reason = f"cut to {len(text):,} of {longest.chars:,} characters, over the budget of {ceiling:,}"
            kept[index] = replace(longest, text=text, state=BlockState.TRIMMED, reason=reason)
    return kept


def _chars(blocks: list[Block]) -> int:
    return len(join_texts([block.text for block in _with_lines(blocks)]))


def _with_lines(blocks: list[Block]) -> list[Block]:
    """The blocks with the line on authority before the first memory block and the line on omissions after
    the others.
    """
    opening = [block for block in blocks if block.placement == Placement.OPENING]
    later = [block for block in blocks if block.placement == Placement.MESSAGE]
    # The opening says it for the whole conversation; what comes without one says it itself.
    place, lines = (Placement.OPENING, opening) if opening else (Placement.MESSAGE, later)
    first = next((i for i, block in enumerate(lines) if block.text and _is_memory(block)), None)
    if first is not None:
        text = AUTHORITY_LINE
        lines.insert(first, Block(name="authority", authority=AUTHORITY_FRAME, text=text, placement=place))
    missing = dict.fromkeys(block.name for block in blocks if block.over_budget)
    if missing:
        text = OMITTED_LINE.format(names=", ".join(missing))
        lines.append(Block(name="omissions", authority=AUTHORITY_FRAME, text=text, placement=place))
    return [*opening, *later]


def _is_memory(block: Block) -> bool:
    return AUTHORITY_FRAME < block.authority <= AUTHORITY_HISTORY

"""Bringing back what a conversation forgot: the button under `/forget` and under a tool call that removed
lessons. Whether a row may come back is its layer's to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crewsite.accounts.selectors import may_delete
from crewsite.chat.keeping import Kept, explicit_origin
from memory.layers import layer_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crewsite.llm.tools import ToolContext


def bring_back(context: ToolContext, rows: Iterable[tuple[str, int]]) -> Kept:
    """Make forgotten rows of this conversation's home live again, each (kind, id); `data.restored` names
    those that are. `data.code` says why none is: not_found, forbidden, or what the layer refused it for."""
    back, texts, reasons, code = [], [], [], "not_found"
    for kind, object_id in rows:
        layer = layer_of(kind)
        row = layer.rows(context.workspace).filter(pk=object_id).first() if layer is not None else None
        if layer is None or row is None:
            reasons.append("That row is gone.")
        elif not may_delete(context.user, row):
            code = "forbidden"
            reasons.append("Only who had it remembered and the owners of the workspace may bring it back.")
        else:
            result = layer.restore(row=row, origin=explicit_origin(context), author=context.user)
            if result.outcome == "refused":
                code = result.code
                reasons.append(f"“{layer.text(row)}” stays forgotten: {result.message}")
            else:
                back.append({"kind": kind, "id": object_id})
                texts.append(f"“{layer.text(row)}”")
    said = [f"Remembered again: {', '.join(texts)}."] if texts else []
    return Kept(
        ok=bool(back),
        text=" ".join([*said, *dict.fromkeys(reasons)]),
        data={"restored": back} if back else {"code": code},
    )

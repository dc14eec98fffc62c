"""An item of the review queue as a person decides it: the texts it is about."""

from __future__ import annotations

from dataclasses import dataclass

from memory.documents import DiffLine, line_diff
from memory.models import EpisodicMemory, ReviewItem
from memory.rules import render_value


@dataclass(frozen=True, slots=True)
class Proposal:
    """`before` is what would give way, where that is known; `note` names what is no longer there."""

    proposed: str
    before: str = ""
    note: str = ""

    @property
    def diff(self) -> tuple[DiffLine, ...]:
        return line_diff(self.before, self.proposed) if self.before else ()


def review_proposal(item: ReviewItem) -> Proposal:
    payload = item.payload
    if item.kind == ReviewItem.Kind.POSSIBLY_SUPERSEDES:
        sides = [payload.get("new"), payload.get("old")]
        rows = {row.pk: row for row in EpisodicMemory.all_objects.filter(pk__in=sides, home=item.home)}
        newer, older = (rows.get(side) for side in sides)
        gone = [
            f"The {word} episode is deleted."
            for word, row in (("newer", newer), ("older", older))
            if row is None or row.is_deleted
        ]
        return Proposal(newer.text if newer else "", older.text if older else "", " ".join(gone))
    if "value" in payload:
        return Proposal(render_value(payload["value"]))
    return Proposal(str(payload.get("rule") or payload.get("text") or ""))

"""The review queue as people read it: which items a workspace sees, and the texts that one is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from memory.constants import OWN_LAYERS
from memory.documents import DiffLine, line_diff
from memory.models import EpisodicMemory, ReviewItem
from memory.rules import render_value

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from crewsite.accounts.models import Workspace


@dataclass(frozen=True, slots=True)
class Proposal:
    """`before` is what would give way, where that is known; `note` names what is no longer there."""

    proposed: str
    before: str = ""
    note: str = ""

    @property
    def diff(self) -> tuple[DiffLine, ...]:
        return line_diff(self.before, self.proposed) if self.before else ()


def reviews_read_by(workspace: Workspace, home: Workspace) -> QuerySet[ReviewItem]:
    """Of a shared home only what concerns the layers that are shared."""
    if workspace.pk == home.pk:
        return ReviewItem.objects.filter(home=home)
    shared = Q(home=home) & ~Q(payload__layer__in=OWN_LAYERS)
    return ReviewItem.objects.filter(Q(home=workspace) | shared)


def review_proposal(item: ReviewItem) -> Proposal:
    return review_proposals([item])[item.pk]


def review_proposals(items: Iterable[ReviewItem]) -> dict[int, Proposal]:
    """By item id, in one query whatever their number."""
    items = list(items)
    doubts = [item for item in items if item.kind == ReviewItem.Kind.POSSIBLY_SUPERSEDES]
    named = {pk for item in doubts for pk in _sides(item) if isinstance(pk, int)}
    rows = EpisodicMemory.all_objects.in_bulk(named) if named else {}
    return {item.pk: _supersession(item, rows) if item in doubts else _write(item) for item in items}


def _sides(item: ReviewItem) -> tuple[object, object]:
    return item.payload.get("new"), item.payload.get("old")


def _supersession(item: ReviewItem, rows: dict[int, EpisodicMemory]) -> Proposal:
    here = {pk: row for pk, row in rows.items() if row.home_id == item.home_id}
    newer, older = (here.get(side) if isinstance(side, int) else None for side in _sides(item))
    gone = [
        f"The {word} episode is deleted."
        for word, row in (("newer", newer), ("older", older))
        if row is None or row.is_deleted
    ]
    return Proposal(newer.text if newer else "", older.text if older else "", " ".join(gone))


def _write(item: ReviewItem) -> Proposal:
    payload = item.payload
    if "value" in payload:
        return Proposal(render_value(payload["value"]))
    return Proposal(str(payload.get("rule") or payload.get("text") or ""))

"""The review queue as its page shows it: which items a workspace reads, and what each is about, in a constant
number of queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crewsite.dashboard.events import LAYER_WORDS
from crewsite.dashboard.place import place_of
from crewsite.dashboard.tables import value_text
from lessons.models import Lesson
from memory.documents import DiffLine, line_diff
from memory.models import PreferencesDocument, ProjectsDocument, ReviewItem, SemanticMemory
from memory.review import Proposal, review_proposals, reviews_read_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet
    from django.http import HttpRequest

    from crewsite.accounts.models import Workspace
    from crewsite.dashboard.place import Place

ITEMS_A_PAGE: Final = 20
# The two buttons, in the words of the kind.
ACCEPT_WORDS: Final[dict[str, str]] = {
    ReviewItem.Kind.POSSIBLY_SUPERSEDES: "Replace the old one",
    ReviewItem.Kind.REFUSED_EXPLICIT: "Store anyway",
    ReviewItem.Kind.PROPOSED_LESSON: "Teach",
}
REJECT_WORDS: Final[dict[str, str]] = {
    ReviewItem.Kind.POSSIBLY_SUPERSEDES: "Keep both",
    ReviewItem.Kind.REFUSED_EXPLICIT: "Leave out",
    ReviewItem.Kind.PROPOSED_LESSON: "Don't teach",
}


@dataclass(frozen=True, slots=True)
class ReviewLine:
    item: ReviewItem
    proposal: Proposal
    may_decide: bool
    key: str = ""

    @property
    def is_open(self) -> bool:
        return self.item.state == ReviewItem.State.OPEN

    @property
    def about(self) -> str:
        layer = str(self.item.payload.get("layer", ""))
        return LAYER_WORDS.get(layer, layer)

    @property
    def accept_words(self) -> str:
        return ACCEPT_WORDS.get(self.item.kind, "Do what it proposes")

    @property
    def reject_words(self) -> str:
        return REJECT_WORDS.get(self.item.kind, "Do nothing")

    @property
    def can_merge(self) -> bool:
        """A refused write stands alone: there is nothing to merge it with."""
        return self.item.kind != ReviewItem.Kind.REFUSED_EXPLICIT or bool(self.proposal.before)

    @property
    def why(self) -> str:
        """A refusal says why in its summary, before the text; the other kinds say all in their texts."""
        if self.item.kind != ReviewItem.Kind.REFUSED_EXPLICIT:
            return ""
        why, end, _ = self.item.summary.partition("). ")
        return f"{why})." if end else why

    @property
    def diff(self) -> tuple[DiffLine, ...]:
        return line_diff(self.proposal.before, self.proposal.proposed) if self.proposal.before else ()


def reviews_open(workspace: Workspace, home: Workspace) -> QuerySet[ReviewItem]:
    return reviews_read_by(workspace, home).filter(state=ReviewItem.State.OPEN)


def reviews_waiting(request: HttpRequest) -> int:
    """For the bar of every page; asked for once a request."""
    if not hasattr(request, "crew_reviews_waiting"):
        place = place_of(request) if request.user.is_authenticated else None
        count = reviews_open(place.workspace, place.home).count() if place else 0
        request.crew_reviews_waiting = count  # type: ignore[attr-defined]
    return int(request.crew_reviews_waiting)  # type: ignore[attr-defined]


def review_lines(place: Place, items: Sequence[ReviewItem]) -> list[ReviewLine]:
    proposals = {**review_proposals(items), **_against_what_stands(items)}
    return [
        ReviewLine(
            item,
            proposals[item.pk],
            may_decide=place.owns(item.home_id),
            key=str(item.payload.get("key", "")),
        )
        for item in items
    ]


def _against_what_stands(items: Sequence[ReviewItem]) -> dict[int, Proposal]:
    """Items that propose a write, beside what it would take the place of today."""
    facts, lessons, documents = _facts(items), _lessons(items), _documents(items)
    found: dict[int, Proposal] = {}
    for item in items:
        payload, layer = item.payload, item.payload.get("layer")
        if "value" in payload:
            before = facts.get((item.home_id, str(payload.get("key"))), "")
            found[item.pk] = Proposal(value_text(payload["value"]), before)
        elif layer == "lesson" and payload.get("would_supersede"):
            said = [lessons[pk] for pk in payload["would_supersede"] if pk in lessons]
            found[item.pk] = Proposal(_rendered(payload), "\n".join(said))
        elif layer in {"preferences", "projects"}:
            found[item.pk] = Proposal(str(payload.get("text", "")), documents.get((item.home_id, layer), ""))
    return found


def _rendered(payload: dict[str, object]) -> str:
    return Lesson(rule=str(payload.get("rule", "")), negative=str(payload.get("negative", ""))).rendered


def _facts(items: Sequence[ReviewItem]) -> dict[tuple[int, str], str]:
    keys = {str(item.payload.get("key")) for item in items if "value" in item.payload}
    homes = {item.home_id for item in items}
    rows = SemanticMemory.objects.filter(home__in=homes, key__in=keys) if keys else ()
    return {(row.home_id, row.key): value_text(row.value) for row in rows}


def _lessons(items: Sequence[ReviewItem]) -> dict[int, str]:
    named = {pk for item in items for pk in item.payload.get("would_supersede", ()) if isinstance(pk, int)}
    homes = {item.home_id for item in items}
    rows = Lesson.objects.filter(pk__in=named, home__in=homes) if named else ()
    return {row.pk: row.rendered for row in rows}


def _documents(items: Sequence[ReviewItem]) -> dict[tuple[int, str], str]:
    found: dict[tuple[int, str], str] = {}
    for layer, model in (("preferences", PreferencesDocument), ("projects", ProjectsDocument)):
        homes = {item.home_id for item in items if item.payload.get("layer") == layer}
        if homes:
            rows = model._default_manager.filter(workspace__in=homes, replaced_at__isnull=True)
            found |= {(row.workspace_id, layer): row.text for row in rows}
    return found

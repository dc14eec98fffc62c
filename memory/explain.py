"""Where a row came from, what stands before and after it, and when it was last put into a prompt (chapter 02,
2.8). Reads only; how a layer knows its own rows is the layer's business.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from crewsite.conversations.models import Conversation
from crewsite.security.models import MemoryEvent
from memory.constants import EXPLAINED_EVENTS, EXPLAINED_INJECTIONS
from memory.models import ConsolidationReceipt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import Q

    from crewsite.accounts.models import User
    from memory.layers import MemoryLayer
    from memory.results import Injected, RowRef


@dataclass(frozen=True, slots=True)
class ConversationRef:
    """`title` is empty where the viewer may not open the conversation."""

    id: UUID
    title: str = ""


@dataclass(frozen=True, slots=True)
class Injection:
    at: dt.datetime
    conversation: ConversationRef
    rank: int
    score: float | None


@dataclass(frozen=True, slots=True)
class ReadFrom:
    """The pass that read the row out of its conversation: which messages, by which model and prompt."""

    path: str
    first_message: int
    last_message: int
    model: str
    prompt_version: str

    @property
    def described(self) -> str:
        """For people."""
        prompt = f" with prompt {self.prompt_version}" if self.prompt_version else ""
        return f"messages {self.first_message} to {self.last_message}, by {self.model or 'no model'}{prompt}"


@dataclass(frozen=True, slots=True)
class ExplainedEvent:
    at: dt.datetime
    event: str
    reason: str
    source: str
    surface: str
    actor: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """`state` is `in force` or why it no longer is. `surface` is empty where the event of the write is gone
    from the ring.
    """

    kind: str
    object_id: int
    uid: UUID
    citation: str
    text: str
    state: str
    since: dt.datetime
    ended_at: dt.datetime | None
    source: str
    surface: str
    author: str
    conversation: ConversationRef | None
    receipts: tuple[ReadFrom, ...]
    replaced_by: tuple[RowRef, ...]
    replaces: tuple[RowRef, ...]
    injections: tuple[Injection, ...]
    events: tuple[ExplainedEvent, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def memory_explain(*, layer: MemoryLayer, row: Any, viewer: User | None = None) -> Explanation:
    """The story of one row, live or not. Without a viewer, an operator at the host asks and sees all titles;
    a person sees those of the conversations that are theirs.
    """
    lineage = layer.lineage(row)
    stood = layer.stood(row)
    events = MemoryEvent.objects.filter(stood, memory_type=layer.name)
    made = events.filter(layer.made()).order_by("-id").first()
    injected = injections_of(layer.name, stood)
    written_in = row.conversation_id
    known = _conversations([written_in, *(one.conversation_id for one in injected)], viewer)
    return Explanation(
        kind=layer.name,
        object_id=row.pk,
        uid=row.uid,
        citation=layer.citation(row),
        text=layer.text(row),
        state="in force" if lineage.ended_at is None else lineage.ended_reason or "ended",
        since=lineage.since,
        ended_at=lineage.ended_at,
        source=getattr(row, "source", "") or (made.source if made else ""),
        surface=made.surface if made else "",
        author=_author(row, made),
        conversation=known.get(written_in) if written_in else None,
        receipts=_receipts(layer.name, row) if written_in else (),
        replaced_by=lineage.replaced_by,
        replaces=lineage.replaces,
        injections=tuple(
            Injection(one.at, known[one.conversation_id], one.rank, one.score) for one in injected
        ),
        events=tuple(
            ExplainedEvent(e.at, e.event, e.reason, e.source, e.surface, e.actor)
            for e in events.order_by("-id")[:EXPLAINED_EVENTS]
        ),
    )


def injections_of(kind: str, stood: Q) -> list[Injected]:
    """The last times a row was injected, newest first; `stood` is what its layer knows it by. Turns stand
    above this app and name themselves in INJECTION_LOG.
    """
    log = import_string(settings.INJECTION_LOG)
    return list(log(kind=kind, stood=stood, limit=EXPLAINED_INJECTIONS))


def _receipts(kind: str, row: Any) -> tuple[ReadFrom, ...]:
    """The receipts of the row's own conversation that name it, oldest first."""
    receipts = ConsolidationReceipt.objects.filter(conversation=row.conversation_id).done().order_by("id")
    return tuple(
        ReadFrom(r.path, r.first_seq, r.last_seq, r.model, r.prompt_version)
        for r in receipts
        if any(one.get("kind") == kind and one.get("id") == row.pk for one in r.written)
    )


def _author(row: Any, made: MemoryEvent | None) -> str:
    author = getattr(row, "author", None)
    return author.get_username() if author is not None else (made.actor if made else "")


def _conversations(ids: Iterable[UUID | None], viewer: User | None) -> dict[UUID, ConversationRef]:
    wanted = {pk for pk in ids if pk is not None}
    rows = Conversation.objects.filter(pk__in=wanted)
    if viewer is not None and not viewer.is_superuser:
        rows = rows.for_user(viewer)
    titles = {row.pk: str(row) for row in rows.only("pk", "title")}
    return {pk: ConversationRef(pk, titles.get(pk, "")) for pk in wanted}

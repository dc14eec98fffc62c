"""Explicit requests while no model is connected: "remember ...", "always ...", "never ...", "from now on ..."
are found by plain matching and proposed as lessons to the review queue. Distilling waits for a model."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import Max

from crewsite.conversations.models import Conversation, Message
from crewsite.jobs.leases import leased
from crewsite.security.origin import Origin, Source, Surface
from crewsite.security.text import fold
from memory.consolidation.constants import LEASE_SECONDS, REQUESTS_PER_TICK
from memory.consolidation.outcomes import Ledger
from memory.consolidation.pending import idle_span, learning, unconsolidated
from memory.consolidation.receipts import receipt_read
from memory.consolidation.transcript import Line, Transcript, transcript_freeze
from memory.constants import REVIEW_SUMMARY_MAX_CHARS
from memory.intents import Intent, detect
from memory.models import ConsolidationReceipt, ReviewItem
from memory.services import review_add
from memory.services.gate import credential_refusal, origin_as_json, screen_refusal

if TYPE_CHECKING:
    from uuid import UUID

LAYER: Final = "lesson"
# What a surface calls when it obeys a request on the spot. Its message needs no proposal.
KEEPING_TOOLS: Final = frozenset({"learn_add", "memory_remember"})
Path = ConsolidationReceipt.Path


def requests_propose_due(now: dt.datetime) -> int:
    """Look through the conversations that came to rest; answers how many lessons were proposed."""
    rows = unconsolidated(learning().filter(last_activity_at__lte=now - idle_span()), Path.HISTORY)
    read: dict[UUID | None, int] = dict(
        ConsolidationReceipt.objects.filter(path=Path.REQUESTS)
        .values_list("conversation")
        .annotate(last=Max("last_seq"))
        .order_by()
    )
    unread = [
        pk
        for pk, until in rows.order_by("last_activity_at", "pk").values_list("pk", "waiting_until")
        if until > read.get(pk, 0)
    ]
    return sum(requests_propose(conversation_id=pk) for pk in unread[:REQUESTS_PER_TICK])


def requests_propose(*, conversation_id: UUID) -> int:
    """Propose what the person asked for in the unread part of one conversation, with a receipt for it."""
    with leased(f"consolidation:{Path.REQUESTS}:{conversation_id}", LEASE_SECONDS) as lease:
        if lease is None:
            return 0
        with transaction.atomic():
            rows = Conversation.objects.select_related("workspace__memory_home")
            row = rows.filter(pk=conversation_id).first()
            if row is None:  # deleted since it was found
                return 0
            done = ConsolidationReceipt.objects.of(row, Path.REQUESTS).aggregate(last=Max("last_seq"))
            transcript = transcript_freeze(row, after_seq=max(row.consolidated_until, done["last"] or 0))
            if transcript is None or not (row.learns and row.writes_memory):
                return 0
            ledger = Ledger()
            obeyed = _obeyed(row, transcript)
            for line in transcript.lines:
                if line.role == Message.Role.USER and line.seq not in obeyed:
                    _propose(row, line, ledger)
            receipt_read(conversation=row, transcript=transcript, ledger=ledger)
    return len(ledger.written)


def _obeyed(row: Conversation, transcript: Transcript) -> set[int]:
    """Numbers of the messages whose answer kept something already."""
    rows = row.messages.filter(
        is_current=True, seq__gte=transcript.first_seq, seq__lte=transcript.newest_seq
    ).order_by("seq")
    obeyed: set[int] = set()
    asked = 0
    for seq, role, calls in rows.values_list("seq", "role", "tool_calls"):
        if role == Message.Role.USER:
            asked = seq
        elif any(call.get("name") in KEEPING_TOOLS for call in calls if isinstance(call, dict)):
            obeyed.add(asked)
    return obeyed


def _propose(row: Conversation, line: Line, ledger: Ledger) -> None:
    intent = detect(line.text)
    if intent is None:
        return
    refusal = credential_refusal(intent.text) or screen_refusal(intent.text, where=LAYER)
    if refusal is not None:
        ledger.refuse(LAYER, intent.text, code=refusal.code, message=refusal.message)
        return
    home = row.workspace.home
    if _is_known(home.pk, intent, line):
        ledger.count(LAYER, "known")
        return
    item = review_add(
        home=home,
        kind=ReviewItem.Kind.PROPOSED_LESSON,
        summary=intent.text,
        payload=_payload(row, line, intent),
    )
    ledger.wrote("review", "proposed", item.pk)


def _is_known(home_id: int, intent: Intent, line: Line) -> bool:
    """Whether the same was proposed before; one that was rejected before it was said again counts no more."""
    summary = fold(intent.text[:REVIEW_SUMMARY_MAX_CHARS])
    proposed = ReviewItem.objects.filter(home_id=home_id, kind=ReviewItem.Kind.PROPOSED_LESSON)
    standing = proposed.exclude(state=ReviewItem.State.REJECTED, decided_at__lte=line.at)
    return any(fold(said) == summary for said in standing.values_list("summary", flat=True).iterator())


def _payload(row: Conversation, line: Line, intent: Intent) -> dict[str, Any]:
    origin = Origin(source=Source.TASK, surface=Surface.TASK, conversation_id=row.pk)
    return {
        "layer": LAYER,
        "origin": origin_as_json(origin),
        "message": line.seq,
        "rule": intent.text,
        "negative": "",
        "category": intent.category,
        "scope": "",
        "pinned": False,
    }

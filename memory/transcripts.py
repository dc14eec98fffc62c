"""Finding what was said in one's own conversations. The order is that of episodes: by meaning, words,
speaker, time and what is said around a message.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import F, OuterRef, Subquery
from django.utils import timezone

from crewsite.conversations.indexing import (
    KIND,
    message_text,
    speaker_of,
    transcript_collection,
    transcripts,
)
from crewsite.conversations.models import Message
from crewsite.search.constants import QUERY_CHARS_MAX
from crewsite.search.kinds import Asker, Reader, RecallHit
from crewsite.search.service import candidates
from crewsite.security.text import clean
from memory.constants import DEFAULT_IMPORTANCE, TRANSCRIPT_LAG, WINDOW_WORDS_REACH
from memory.nearness import worth_telling
from memory.neighbourhood import NOBODY
from memory.pool import pool_of
from memory.ranking import Profile, pool_size, rank

if TYPE_CHECKING:
    from crewsite.search.results import Candidates
    from memory.ranking import Ids, Pool


class TranscriptKind:
    """Follows `crewsite.search.kinds.SearchKind`."""

    name = KIND
    prefix = "msg"

    def documents(self, after_id: int, limit: int) -> list[tuple[int, str, str]]:
        """Messages after an id, in id order: (object id, collection, text)."""
        rows = transcripts().filter(pk__gt=after_id).select_related("conversation", "author").order_by("pk")
        return [(row.pk, _collection_of(row), message_text(row)) for row in rows[:limit]]

    def count(self) -> int:
        return transcripts().count()

    def recall(
        self, *, query: str, workspace: Reader, limit: int, asker: Asker | None = None
    ) -> list[RecallHit]:
        """What the asker and their assistants said, but for the conversation the question is asked in."""
        query = clean(query[:QUERY_CHARS_MAX]).strip()
        if asker is None or not query or limit <= 0:
            return []
        found = candidates(
            collection=transcript_collection(workspace_id=workspace.pk, owner_id=asker.user_id),
            query=query,
            k=pool_size(limit),
            lag=TRANSCRIPT_LAG,
        )
        rows = _rows(found, workspace.pk, asker) if found.hits else []
        if not rows:
            return []
        pool = _pool(rows, found, query=query, now=timezone.now())
        by_id = {row.pk: row for row in rows}
        told = {hit.object_id for hit in worth_telling(query, found.hits)}
        hits = {hit.object_id: hit for hit in found.hits}
        return [
            RecallHit(
                kind=self.name,
                object_id=place.object_id,
                citation=f"{self.prefix}:{place.object_id}",
                text=message_text(by_id[place.object_id]),
                at=by_id[place.object_id].created_at,
                score=place.score,
                legs=hits[place.object_id].legs,
            )
            for place in rank(pool, profile=Profile.EXPLICIT, limit=limit)
            if place.object_id in told
        ]


def _collection_of(row: Message) -> str:
    where = row.conversation
    return transcript_collection(workspace_id=where.workspace_id, owner_id=where.owner_id)


def _rows(found: Candidates, workspace_id: int, asker: Asker) -> list[Message]:
    """The messages as they are now, still the asker's own, in the order of the hits."""
    own = transcripts().filter(
        pk__in=[hit.object_id for hit in found.hits],
        conversation__workspace_id=workspace_id,
        conversation__owner_id=asker.user_id,
    )
    rows = own.exclude(conversation_id=asker.conversation_id) if asker.conversation_id else own
    return list(rows.select_related("author").defer("content_html", "tool_calls", "attachments", "usage"))


def _pool(rows: list[Message], found: Candidates, *, query: str, now: dt.datetime) -> Pool:
    columns: list[tuple[Any, ...]] = [
        (row.pk, DEFAULT_IMPORTANCE, None, f"{speaker_of(row)}: {row.content}", row.conversation_id, [], None)
        for row in rows
    ]
    told = [row.created_at for row in rows]
    return pool_of(columns, told, _around(rows), found, query=query, now=now)


def _around(rows: list[Message]) -> Ids:
    """`(rows, 5)`: every message with the two findable ones before and after it in its conversation. Looked
    up from each message, so that the length of a conversation costs nothing."""
    beside = transcripts().filter(conversation=OuterRef("conversation")).values("pk")
    before = beside.filter(seq__lt=OuterRef("seq")).order_by("-seq")
    after = beside.filter(seq__gt=OuterRef("seq")).order_by("seq")
    steps = range(WINDOW_WORDS_REACH)
    columns: dict[str, Any] = {
        **{f"before_{step}": Subquery(before[step : step + 1]) for step in reversed(steps)},
        "own": F("pk"),
        **{f"after_{step}": Subquery(after[step : step + 1]) for step in steps},
    }
    found = Message.objects.filter(pk__in=[row.pk for row in rows]).annotate(**columns).values_list(*columns)
    lines = {line[WINDOW_WORDS_REACH]: line for line in found}
    nobody = (None,) * WINDOW_WORDS_REACH
    around = [lines.get(row.pk, (*nobody, row.pk, *nobody)) for row in rows]
    return np.array([[NOBODY if pk is None else pk for pk in line] for line in around], dtype=np.int64)

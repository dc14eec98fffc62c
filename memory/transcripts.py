"""Finding what was said in one's own conversations. The order is that of episodes: by meaning, words,
speaker, time and what is said around a message.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

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
from crewsite.search.words import STOP_WORDS, word_set
from crewsite.security.text import clean
from memory.constants import DEFAULT_IMPORTANCE, TRANSCRIPT_LAG, WINDOW_WORDS_REACH
from memory.nearness import worth_telling
from memory.neighbourhood import NOBODY
from memory.pool import pool_of
from memory.ranking import Profile, pool_size, rank
from memory.recited import recited
from memory.words import detect_language

if TYPE_CHECKING:
    from crewsite.search.results import Candidates
    from memory.ranking import Ids, Pool


_UNREAD: Final = ("content_html", "tool_calls", "attachments", "usage")
_ASKS: Final = ("?", "？", "؟")


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
        """What the asker and their assistants said, but for the conversation the question is asked in, and
        what was said out of memory that is deleted by now. Into a conversation only what is no question."""
        query = clean(query[:QUERY_CHARS_MAX]).strip()
        if asker is None or not query or limit <= 0:
            return []
        found = candidates(
            collection=transcript_collection(workspace_id=workspace.pk, owner_id=asker.user_id),
            query=query,
            k=pool_size(limit),
            lag=TRANSCRIPT_LAG,
        )
        rows = _rows(found, query, workspace, asker) if found.hits else []
        if asker.conversation_id is not None:
            rows = _answers(rows, query)
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


def _rows(found: Candidates, query: str, workspace: Any, asker: Asker) -> list[Message]:
    """The messages as they are now, still the asker's own, that do not tell what was deleted."""
    own = transcripts().filter(
        pk__in=[hit.object_id for hit in found.hits],
        conversation__workspace_id=workspace.pk,
        conversation__owner_id=asker.user_id,
    )
    rows = own.exclude(conversation_id=asker.conversation_id) if asker.conversation_id else own
    rows = rows.select_related("author", "parent").defer(*_UNREAD, *(f"parent__{name}" for name in _UNREAD))
    read = list(rows)
    hidden = recited(read, query=query, workspace=workspace)
    return [row for row in read if row.pk not in hidden]


def _answers(rows: list[Message], query: str) -> list[Message]:
    """Without those that say nothing but what is asked, and without questions that memory alone answered:
    told back into a conversation they are no memories."""
    asked = word_set(query)
    questions = [row.pk for row in rows if row.role == Message.Role.USER and row.content.endswith(_ASKS)]
    by_memory = Message.objects.filter(parent__in=questions, is_current=True, is_searchable=False)
    left_out = set(by_memory.values_list("parent", flat=True)) if questions else set()
    return [row for row in rows if row.pk not in left_out and _content_words(row.content) - asked]


def _content_words(text: str) -> frozenset[str]:
    return word_set(text) - STOP_WORDS[detect_language(text)]


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

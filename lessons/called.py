"""Which rules a later message of a conversation calls for, among those the conversation was not told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from crewsite.embeddings.service import get_embedder
from crewsite.search.collections import collection_name
from crewsite.search.service import candidates
from lessons.models import Lesson
from lessons.selectors import LessonHit
from memory.constants import KEYWORD_RUNG_MIN_OVERLAP, thresholds_for
from memory.context.constants import LESSONS_CALLED_POOL
from memory.words import share_found

if TYPE_CHECKING:
    from collections.abc import Collection

    from crewsite.accounts.models import Workspace
    from crewsite.search.service import Hit


def lessons_called_for(
    home: Workspace,
    *,
    message: str,
    project: str,
    seen: Collection[int],
    limit: int,
    mode: Literal["auto", "keyword"] = "auto",
) -> tuple[list[LessonHit], tuple[str, ...]]:
    """The nearest rules over the threshold of relevance, nearest first, and why the search was limited."""
    found = candidates(
        collection=collection_name("lesson", home.pk), query=message, k=LESSONS_CALLED_POOL, mode=mode
    )
    hits = {hit.object_id: hit for hit in found.hits if hit.object_id not in seen}
    rows = Lesson.objects.in_home(home).reaching(project).only("rule", "negative").in_bulk(hits)
    has_vectors = any(hit.cosine is not None for hit in hits.values())
    relevance = thresholds_for(get_embedder().model_id).relevance
    called = [
        LessonHit(row, hit.cosine if hit.cosine is not None else (hit.keyword or 0.0), _legs(hit))
        for pk, hit in hits.items()
        if (row := rows.get(pk)) is not None
        and (_is_near(hit, relevance) if has_vectors else _shares_words(message, row.rule))
    ]
    called.sort(key=lambda hit: (-hit.score, -hit.row.pk))
    return called[:limit], found.degraded


def _is_near(hit: Hit, relevance: float) -> bool:
    return hit.all_terms or (hit.cosine is not None and hit.cosine >= relevance)


def _shares_words(message: str, rule: str) -> bool:
    """Without vectors half of the words of one must be in the other: a long message has many of its own."""
    return max(share_found(message, rule), share_found(rule, message)) >= KEYWORD_RUNG_MIN_OVERLAP


def _legs(hit: Hit) -> tuple[str, ...]:
    return tuple(
        leg for leg, score in (("vector", hit.cosine), ("keyword", hit.keyword)) if score is not None
    )

"""Searching facts and episodes, and counting layers.
Candidates come from the index, every row from the database.
"""

from __future__ import annotations

import datetime as dt
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from django.db.models import Count, Max, Q
from django.utils import timezone

from crewsite.embeddings.service import get_embedder
from crewsite.search.collections import collection_name
from crewsite.search.constants import QUERY_CHARS_MAX
from crewsite.search.fusion import scale01, weighted
from crewsite.search.service import candidates
from crewsite.security.text import clean
from memory import access
from memory.constants import (
    KEY_MATCH_WEIGHT,
    KEYWORD_WEIGHT,
    MAX_POOL,
    VECTOR_WEIGHT,
    thresholds_for,
)
from memory.live import episodic_max_rows
from memory.models import (
    EpisodicMemory,
    HistoryEntry,
    PreferencesDocument,
    ProjectsDocument,
    ReviewItem,
    SemanticMemory,
)
from memory.nearness import worth_telling
from memory.pool import decoded, facts_read, pool_read, rows_read
from memory.ranking import Profile, Ranked, admitted, pool_size, rank
from memory.results import EpisodicHit, EpisodicSearch, LayerCount, MemoryStats, SemanticHit, SemanticSearch
from memory.review import reviews_read_by
from memory.rules import key_words, render_value
from memory.supersession import with_newer
from memory.words import DEFAULT_LANGUAGE, detect_language, fact_overlap, key_stems, stem, stems

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from crewsite.search.service import Candidates, Hit

Mode = Literal["auto", "relevance", "keyword", "vector"]
LEGS: Final[dict[Mode, Literal["auto", "keyword", "vector"]]] = {
    "auto": "auto",
    "relevance": "auto",
    "keyword": "keyword",
    "vector": "vector",
}


def episodic_search(
    *,
    home: Workspace,
    query: str,
    limit: int = 8,
    relevance_filter: bool = False,
    telling: bool = False,
    mmr: bool = True,
    mode: Mode = "auto",
    now: dt.datetime | None = None,
) -> EpisodicSearch:
    """Episodes of a home that answer a question, best first.

    `auto` lets importance and age order the rows (what a prompt gets); every other mode orders by relevance
    alone.
    `relevance_filter` admits only rows near enough to be worth a place in a prompt. `telling` leaves out, of
    what was placed, rows that are not worth telling somebody, unless they may replace one that is.
    """
    query, limit = clean(query[:QUERY_CHARS_MAX]).strip(), min(limit, MAX_POOL)
    if not query or limit <= 0:
        return EpisodicSearch(())
    found = candidates(
        collection=collection_name("episodic", home.pk), query=query, k=pool_size(limit), mode=LEGS[mode]
    )
    pool = pool_read(home, found, query=query, now=now or timezone.now())
    if relevance_filter:
        pool = pool.only(admitted(pool, thresholds_for(get_embedder().model_id), question=query))
    ranked = rank(
        pool,
        profile=Profile.INJECTION if mode == "auto" else Profile.EXPLICIT,
        limit=limit,
        mmr=mmr,
    )
    if telling:
        worth = np.isin(pool.ids, [hit.object_id for hit in worth_telling(query, found.hits)])
        told = set(pool.ids[with_newer(worth, pool.ids, pool.supersedes)].tolist())
        ranked = [place for place in ranked if place.object_id in told]
    rows = rows_read(EpisodicMemory, home, [place.object_id for place in ranked])
    hits = {hit.object_id: hit for hit in found.hits}
    access.note(rows)
    return EpisodicSearch(
        tuple(
            _episodic_hit(rows[place.object_id], place, hits.get(place.object_id))
            for place in ranked
            if place.object_id in rows
        ),
        rung=found.rung,
        degraded=found.degraded,
    )


def _episodic_hit(row: EpisodicMemory, place: Ranked, hit: Hit | None) -> EpisodicHit:
    """A row without a hit of its own was not found: it came with the one that it may replace."""
    if hit is None:
        return EpisodicHit(row=row, score=place.score, cosine=None, keyword=None, legs=("newer",))
    legs = (*hit.legs, *(("guard",) if place.guarded else ()))
    return EpisodicHit(row=row, score=place.score, cosine=hit.cosine, keyword=hit.keyword, legs=legs)


def semantic_search(*, home: Workspace, query: str, limit: int = 20, mode: Mode = "auto") -> SemanticSearch:
    """Facts of a home by 0.6 of the vector and 0.4 of the keyword score;
    by the keyword score alone without vectors.
    """
    query, limit = clean(query[:QUERY_CHARS_MAX]).strip(), min(limit, MAX_POOL)
    if not query or limit <= 0:
        return SemanticSearch(())
    found = candidates(
        collection=collection_name("semantic", home.pk), query=query, k=pool_size(limit), mode=LEGS[mode]
    )
    facts = facts_read(home, [hit.object_id for hit in found.hits])
    hits = {hit.object_id: hit for hit in found.hits if hit.object_id in facts}
    keyword = _fact_keywords(_overlaps(query, facts, found), hits)
    cosines = {pk: hit.cosine for pk, hit in hits.items() if hit.cosine is not None}
    legs = [(VECTOR_WEIGHT, scale01(cosines)), (KEYWORD_WEIGHT, keyword)]
    scores = weighted([leg for leg in legs if leg[1]])
    # A fact that waits for its vector is not worse than one whose vector says nothing.
    scores |= {pk: score for pk, score in keyword.items() if pk not in cosines}
    best = sorted(scores, key=lambda pk: (-scores[pk], facts[pk][0]))[:limit]
    rows = rows_read(SemanticMemory, home, best)
    return SemanticSearch(
        tuple(
            SemanticHit(
                rows[pk], scores[pk], hits[pk].cosine, keyword.get(pk), _fact_legs(hits[pk], keyword.get(pk))
            )
            for pk in best
            if pk in rows
        ),
        rung=found.rung,
        degraded=found.degraded,
    )


def memory_stats(workspace: Workspace) -> MemoryStats:
    """Rows of every layer that a workspace reads, 1 to 3 its own, 4 and 5 those of its memory home, and the
    questions that wait for its readers."""
    home = workspace.home
    layers = {
        "preferences": _count(
            PreferencesDocument.objects.filter(workspace=workspace), Q(replaced_at__isnull=False)
        ),
        "projects": _count(
            ProjectsDocument.objects.filter(workspace=workspace), Q(replaced_at__isnull=False)
        ),
        "history": _count(HistoryEntry.objects.filter(workspace=workspace), Q(pk__isnull=True)),
        "semantic": _count(SemanticMemory.all_objects.filter(home=home), Q(is_deleted=True)),
        "episodic": _count(EpisodicMemory.all_objects.filter(home=home), Q(is_deleted=True)),
    }
    reviews = reviews_read_by(workspace, home).filter(state=ReviewItem.State.OPEN).count()
    return MemoryStats(layers, episodic_cap=episodic_max_rows(), open_reviews=reviews)


def _overlaps(query: str, facts: dict[int, tuple[str, Any]], found: Candidates) -> dict[int, float]:
    """`fact_overlap` of the facts that may share a word with the question. The index stems English as the
    scores do: it knows which facts have which words, and of most questions only keys are still to be read.
    """
    if found.evidence is None or detect_language(query) != DEFAULT_LANGUAGE:
        return {pk: _overlap(query, fact) for pk, fact in facts.items()}
    terms = [stem(term.text.casefold(), DEFAULT_LANGUAGE) for term in found.evidence.asked]
    held = found.evidence.terms_held(np.array(list(facts), dtype=np.int64)).tolist()
    having = {pk: set(compress(terms, has)) for pk, has in zip(facts, held, strict=True) if any(has)}
    asked = stems(query)
    if not asked <= set(terms):
        return {pk: _overlap(query, facts[pk]) for pk in having}
    overlaps = {}
    for pk, words in having.items():
        in_key = asked & key_stems(key_words(facts[pk][0]))
        overlaps[pk] = KEY_MATCH_WEIGHT * len(in_key) + len((words & asked) - in_key)
    return overlaps


def _overlap(query: str, fact: tuple[str, Any]) -> float:
    key, value = fact
    return fact_overlap(
        query, key=key_words(key), value=render_value(decoded(value)), key_weight=KEY_MATCH_WEIGHT
    )


def _fact_keywords(overlaps: dict[int, float], hits: dict[int, Hit]) -> dict[int, float]:
    """Keyword scores 0..1 of the facts that share a word, or a run of characters, with the question."""
    best = max(overlaps.values(), default=0.0)
    if best:
        return {pk: overlap / best for pk, overlap in overlaps.items() if overlap}
    # Scripts without spaces share no words; there the index's own keyword score is what there is.
    return {pk: hit.keyword for pk, hit in hits.items() if hit.keyword is not None}


def _fact_legs(hit: Hit, keyword: float | None) -> tuple[str, ...]:
    return (*(("vector",) if hit.cosine is not None else ()), *(("keyword",) if keyword is not None else ()))


def _count(rows: object, deleted: Q) -> LayerCount:
    found = rows.aggregate(  # type: ignore[attr-defined]
        live=Count("pk", filter=~deleted), deleted=Count("pk", filter=deleted), newest=Max("created_at")
    )
    return LayerCount(found["live"], found["deleted"], found["newest"])

"""The vector and the keyword leg of one search, and the ladder down when one of them cannot stand."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from django.db import DatabaseError

from crewsite.embeddings.service import embed_query, embedder_status
from crewsite.embeddings.spaces import active_space
from crewsite.search import counts
from crewsite.search.constants import KEYWORD_WEIGHT, QUERY_CHARS_MAX, VECTOR_WEIGHT
from crewsite.search.degradation import note
from crewsite.search.keyword import KeywordAnswer, KeywordHit, keyword_index
from crewsite.search.results import Candidates, Hit, Mode, Rung

if TYPE_CHECKING:
    from crewsite.embeddings.service import Embedding
    from crewsite.search.evidence import Evidence
    from crewsite.search.vector_index.collection import CollectionIndex

logger = logging.getLogger(__name__)

_NOT_FOUND: Final[tuple[float | None, bool]] = (None, False)


@dataclass(frozen=True, slots=True)
class VectorLeg:
    """What the vector side found. Without an index the question could not be compared at all."""

    cosines: dict[int, float] = field(default_factory=dict)
    index: CollectionIndex | None = None
    embedding: Embedding | None = None
    degraded: tuple[str, ...] = ()

    @property
    def rung(self) -> Rung:
        return self.index.engine if self.index is not None else "keyword"


def candidates(
    *,
    collection: str,
    query: str,
    k: int,
    mode: Mode = "auto",
    embedding: Embedding | None = None,
    lag: int = 0,
) -> Candidates:
    query = query[:QUERY_CHARS_MAX]
    if not query.strip() or k <= 0:
        return Candidates()
    leg = VectorLeg()
    if mode != "keyword":
        leg = _vector_leg(collection, query, k, embedding or embed_query(query))
    answer = KeywordAnswer()
    # Asked for meaning alone, words still answer when meaning cannot.
    if mode != "vector" or leg.index is None:
        answer = keyword_index().search(collection=collection, query=query, k=k)
    degraded = list(leg.degraded)
    if leg.index is not None and len(leg.index) + lag < counts.document_count(collection):
        degraded.append("index_behind")
    degraded += answer.degraded
    note(degraded)
    return Candidates(_hits(leg, answer.hits), leg.rung, tuple(degraded), _evidence(leg, answer))


def nearest(*, collection: str, embedding: Embedding, k: int) -> list[tuple[int, float]]:
    return list(_searched(collection, embedding, k).cosines.items())


def _vector_leg(collection: str, query: str, k: int, embedding: Embedding | None) -> VectorLeg:
    if embedding is None:
        return VectorLeg(degraded=_why_not_embedded(query))
    return _searched(collection, embedding, k)


def _evidence(leg: VectorLeg, answer: KeywordAnswer) -> Evidence:
    from crewsite.search.evidence import Evidence

    vector = leg.embedding.vector if leg.embedding is not None else None
    if answer.terms is None:
        return Evidence(index=leg.index, vector=vector)
    return Evidence(answer.terms, leg.index, vector)


def _why_not_embedded(query: str) -> tuple[str, ...]:
    state = embedder_status().state
    if state == "loading":
        return ("embedder_loading",)
    # A ready embedder gives no vector for signs alone, which is no fault.
    if state == "ready" and not any(map(str.isalnum, query)):
        return ()
    return ("embedder_unavailable",)


def _searched(collection: str, embedding: Embedding, k: int) -> VectorLeg:
    from crewsite.search.vector_index.registry import collection_index

    try:
        index = collection_index(collection, embedding.signature)
        if index is None and _is_opened(embedding):
            index = collection_index(collection, embedding.signature)
        if index is None:
            return VectorLeg(degraded=("index_behind",))
        try:
            found = index.search(embedding.vector, k)
        except Exception:
            if index.engine == "numpy":
                raise
            logger.exception("faiss failed on %s; going on without it.", collection)
            index.fall_back()
            found = index.search(embedding.vector, k)
    except DatabaseError:
        raise
    except Exception:
        logger.exception("The vector index of %s failed; only words are searched.", collection)
        return VectorLeg(degraded=("faiss_unavailable",))
    degraded = () if index.engine == "faiss" else ("faiss_unavailable",)
    return VectorLeg(dict(found), index, embedding, degraded)


def _is_opened(embedding: Embedding) -> bool:
    """Whether the running model's space is the active one; the first question of a new model opens it."""
    space = active_space()
    return space is not None and space.signature == embedding.signature


def _hits(leg: VectorLeg, words: tuple[KeywordHit, ...]) -> tuple[Hit, ...]:
    """Both legs by object, best first by a plain mix that callers with better knowledge replace."""
    cosines = dict(leg.cosines)
    if leg.index is not None and leg.embedding is not None:
        missing = [hit.object_id for hit in words if hit.object_id not in cosines]
        cosines |= leg.index.cosines(leg.embedding.vector, missing)
    # The heaviest has all terms, if any has: what it weighs is the measure of the others.
    top = words[0].score if words else 1.0
    found = {pk: (score / top if top > 0.0 else 1.0, is_whole) for pk, score, is_whole in words}
    placed: list[tuple[float, Hit]] = []
    for pk in {**cosines, **found}:
        cosine, (keyword, is_whole) = cosines.get(pk), found.get(pk, _NOT_FOUND)
        mix = VECTOR_WEIGHT * (cosine or 0.0) + KEYWORD_WEIGHT * (keyword or 0.0)
        placed.append((mix, Hit(pk, cosine, keyword, is_whole)))
    placed.sort(key=itemgetter(0), reverse=True)
    return tuple(hit for _, hit in placed)

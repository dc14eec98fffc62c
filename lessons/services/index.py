"""Lessons in the search index, and compared with each other by meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crewsite.embeddings.service import Embedding, embed_document, get_embedder
from crewsite.search.collections import collection_name
from crewsite.search.service import document_delete, document_put, nearest
from lessons.constants import NEAREST_LOOKED_AT, SEED_THRESHOLDS, Thresholds, thresholds_for
from lessons.dedup import Rule, topic_candidates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crewsite.accounts.models import Workspace
    from lessons.models import Lesson
    from lessons.rules import Draft

KIND = "lesson"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the embedder knows of a draft: its own vector, and the cosine to each live rule worth comparing.

    `cosines` is None when there is no embedder; then shared keywords alone decide.
    """

    embedding: Embedding | None = None
    cosines: dict[int, float] | None = None
    thresholds: Thresholds = SEED_THRESHOLDS


def compare(home: Workspace, draft: Draft, existing: Sequence[Rule]) -> Comparison:
    """Embeds, so it runs before the lock is taken. Rules sharing keywords are compared rule to rule,
    whatever the index holds; of the others the nearest.
    """
    bare = embed_document(draft.rule)
    if bare is None:
        return Comparison()
    found = nearest(collection=collection_name(KIND, home.pk), embedding=bare, k=NEAREST_LOOKED_AT)
    cosines = {int(object_id): float(cosine) for object_id, cosine in found}
    for rule in topic_candidates(draft.rule, existing):
        other = embed_document(rule.text)
        if other is not None and other.signature == bare.signature:
            cosines[rule.id] = float(bare.vector @ other.vector)
    return Comparison(
        embedding=embed_document(draft.rendered) if draft.negative else bare,
        cosines=cosines,
        thresholds=thresholds_for(get_embedder().model_id),
    )


def index_put(row: Lesson, embedding: Embedding | None) -> None:
    document_put(
        collection=collection_name(KIND, row.home_id),
        object_id=row.pk,
        text=row.rendered,
        embedding=embedding,
    )


def index_drop(row: Lesson) -> None:
    document_delete(collection=collection_name(KIND, row.home_id), object_id=row.pk)

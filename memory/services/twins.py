"""Which live episode says what a new text says, or what it says is over. Reads only; what a write does about
it is `episodic`'s.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crewsite.embeddings.service import get_embedder
from crewsite.search.collections import collection_name
from crewsite.search.service import candidates, nearest
from memory.changes import Disagreement, disagreement, is_placed
from memory.constants import (
    NEIGHBOURS_LOOKED_AT,
    STATE_MIN_COSINE,
    STATES_LOOKED_AT,
    STATES_LOOKED_AT_BY_WORDS,
    thresholds_for,
)
from memory.models import EpisodicMemory
from memory.single_facts import changed, over

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from crewsite.embeddings.service import Embedding

KIND = "episodic"


@dataclass(frozen=True, slots=True)
class Twin:
    """A live row that says nearly the same; `differs_in` None means it says just the same."""

    row: EpisodicMemory
    differs_in: Disagreement | None = None


def twin_find(
    home: Workspace, text: str, embedding: Embedding | None, *, told_at: dt.datetime, exact_id: int | None
) -> Twin | None:
    """An exact duplicate, else the nearest row that says the same, else the nearest that disagrees, else the
    one that tells the state before a change.
    """
    if exact_id is not None:
        return Twin(EpisodicMemory.objects.get(pk=exact_id))
    twins = near_twins(home, text, embedding)
    same = next((twin for twin in twins if twin.differs_in is None), None)
    return same or next(iter(twins), None) or _outdated(home, text, embedding, told_at)


def _outdated(home: Workspace, text: str, embedding: Embedding | None, told_at: dt.datetime) -> Twin | None:
    """The newest row before this text that tells a state which it says has changed: another job or home."""
    for topic in changed(text):
        found = candidates(
            collection=collection_name(KIND, home.pk),
            query=topic.query,
            k=STATES_LOOKED_AT if embedding is not None else STATES_LOOKED_AT_BY_WORDS,
            # Under the lock of a home nothing is embedded: a text without a vector is compared by its words.
            mode="auto" if embedding is not None else "keyword",
            embedding=embedding,
        )
        near = [hit.object_id for hit in found.hits if hit.cosine is None or hit.cosine >= STATE_MIN_COSINE]
        live = EpisodicMemory.objects.filter(home=home, pk__in=near, created_at__lte=told_at)
        texts = live.order_by("-created_at", "-pk").values_list("pk", "text")
        told = next((pk for pk, said in texts if over(topic, said, change=text)), None)
        if told is not None:
            return Twin(EpisodicMemory.objects.get(pk=told), "state")
    return None


def near_twins(home: Workspace, text: str, embedding: Embedding | None) -> list[Twin]:
    """Live rows nearer than the model's threshold, nearest first.
    Matches that are tombstoned meanwhile are skipped.
    """
    if embedding is None:
        return []
    limits = thresholds_for(get_embedder().model_id)
    if not is_placed(text, limits):
        return []
    found = nearest(collection=collection_name(KIND, home.pk), embedding=embedding, k=NEIGHBOURS_LOOKED_AT)
    ids = [object_id for object_id, cosine in found if cosine > limits.near_duplicate]
    rows = EpisodicMemory.objects.filter(home=home).in_bulk(ids) if ids else {}
    return [Twin(rows[pk], disagreement(text, rows[pk].text)) for pk in ids if pk in rows]

"""Facts and episodes as kinds of the one search box: what is indexed of them, and how each answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crewsite.search.collections import collection_name
from crewsite.search.kinds import Asker, Reader, RecallHit
from memory.models import EpisodicMemory, SemanticMemory
from memory.nearness import worth_telling
from memory.rules import value_words
from memory.selectors import episodic_search, semantic_search
from memory.services.semantic import index_text

if TYPE_CHECKING:
    from memory.results import EpisodicHit, SemanticHit

Document = tuple[int, str, str]


class SemanticKind:
    name = "semantic"
    prefix = "sem"

    def documents(self, after_id: int, limit: int) -> list[Document]:
        """Live rows after an id, in id order: (object id, collection, text)."""
        rows = SemanticMemory.objects.filter(pk__gt=after_id).order_by("pk")[:limit]
        return [
            (row.pk, collection_name(self.name, row.home_id), index_text(row.key, row.value)) for row in rows
        ]

    def count(self) -> int:
        return SemanticMemory.objects.count()

    def recall(
        self, *, query: str, workspace: Reader, limit: int, asker: Asker | None = None
    ) -> list[RecallHit]:
        found = semantic_search(home=workspace.home, query=query, limit=limit)
        return [self._hit(hit) for hit in worth_telling(query, found.hits)]

    def _hit(self, hit: SemanticHit) -> RecallHit:
        return RecallHit(
            kind=self.name,
            object_id=hit.row.pk,
            citation=hit.citation,
            text=f"{hit.row.key}: {value_words(hit.row.value)}",
            at=hit.row.valid_from,
            score=hit.score,
            legs=hit.legs,
        )


class EpisodicKind:
    name = "episodic"
    prefix = "epi"

    def documents(self, after_id: int, limit: int) -> list[Document]:
        """Live rows after an id, in id order: (object id, collection, text)."""
        rows = EpisodicMemory.objects.filter(pk__gt=after_id).order_by("pk")
        return [
            (pk, collection_name(self.name, home_id), text)
            for pk, home_id, text in rows.values_list("pk", "home_id", "text")[:limit]
        ]

    def count(self) -> int:
        return EpisodicMemory.objects.count()

    def recall(
        self, *, query: str, workspace: Reader, limit: int, asker: Asker | None = None
    ) -> list[RecallHit]:
        found = episodic_search(home=workspace.home, query=query, limit=limit, mode="relevance", telling=True)
        return [self._hit(hit) for hit in found.hits]

    def _hit(self, hit: EpisodicHit) -> RecallHit:
        return RecallHit(
            kind=self.name,
            object_id=hit.row.pk,
            citation=hit.citation,
            text=hit.row.text,
            at=hit.row.created_at,
            score=hit.score,
            legs=hit.legs,
        )

"""What `crew memory` does with this machine's database. Answers plain values, as `remote` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.core.management.base import CommandError

from crewsite.accounts.console import cli_origin, wait_for_embedder
from crewsite.security.models import MemoryEvent
from memory.layers import memory_layers, row_cited
from memory.management.printing import (
    event_as_dict,
    hit_as_dict,
    row_as_dict,
    standing_as_dict,
    when,
    whole_row_as_dict,
)
from memory.own_layers import EpisodicLayer, SemanticLayer

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from memory.explain import Explanation
    from memory.layers import MemoryLayer

LISTED_LAYERS: Final = ("semantic", "episodic")
# What a workspace's members share: conversations belong to one person, and a terminal is none.
SEARCHED_KINDS: Final = (*LISTED_LAYERS, "lesson")
NO_ROW: Final = "There is no {!r}. Ids look like epi:412, sem:pref.editor, les:12, doc:projects, his:7."
NO_MOMENT: Final = "A moment reads like 2026-03-10 or 2026-03-10T14:30."


class LocalMemory:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def newest(self, *, kind: str | None, deleted: bool, limit: int) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for layer in _listed(kind):
            chosen = layer.rows(self._workspace).filter(is_deleted=deleted)
            newest = chosen.order_by("-created_at", "-pk")[:limit]
            rows += [row_as_dict(layer, row) for row in newest]
        return sorted(rows, key=lambda row: row["created_at"], reverse=True)[:limit]

    def search(self, *, query: str, limit: int) -> dict[str, Any]:
        from crewsite.embeddings.service import start_loading
        from crewsite.search.kinds import search_kinds
        from crewsite.search.recall import search_all
        from memory import access

        start_loading()
        search_kinds()  # their modules load beside the model
        wait_for_embedder()
        found = search_all(query=query, workspace=self._workspace, kinds=SEARCHED_KINDS, limit=limit)
        access.flush()
        hits = [
            hit_as_dict(citation=hit.citation, text=hit.text, at=hit.at, score=hit.score, legs=hit.legs)
            for hit in found.hits
        ]
        return {"hits": hits, "degraded": list(found.degraded)}

    def show(self, *, citation: str) -> dict[str, Any]:
        return whole_row_as_dict(*self._find(citation))

    def explain(self, *, citation: str) -> Explanation:
        from memory.explain import memory_explain

        layer, row = self._find(citation)
        return memory_explain(layer=layer, row=row)

    def audit(self, *, citation: str, event: str | None, limit: int) -> list[dict[str, Any]]:
        events = MemoryEvent.objects.filter(home_id__in={self._workspace.pk, self._workspace.home.pk})
        if citation:
            layer, row = self._find(citation)
            events = events.filter(memory_type=layer.name, object_id=row.pk)
        if event:
            events = events.filter(event=event)
        return [event_as_dict(row) for row in events.order_by("-id")[:limit]]

    def as_of(self, *, moment: str) -> dict[str, Any]:
        from memory.as_of import memory_as_of, moment_named

        found = moment_named(moment, self._workspace)
        if found is None:
            raise CommandError(NO_MOMENT, returncode=2)
        rows = memory_as_of(home=self._workspace.home, moment=found)
        return {"moment": when(found), "rows": [standing_as_dict(row) for row in rows]}

    def stats(self) -> dict[str, Any]:
        from memory.selectors import memory_stats

        stats = memory_stats(self._workspace)
        layers = {
            name: {"live": count.live, "deleted": count.deleted, "newest": when(count.newest)}
            for name, count in stats.layers.items()
        }
        return {"layers": layers, "episodic_cap": stats.episodic_cap, "open_reviews": stats.open_reviews}

    def remember(self, *, text: str, key: str | None, importance: float, tags: list[str]) -> dict[str, Any]:
        from memory.rules import parse_value
        from memory.services import episodic_write, semantic_write

        home, origin = self._workspace.home, cli_origin()
        wait_for_embedder()
        if key:
            fact = semantic_write(home=home, key=key, value=parse_value(text), origin=origin)
            return _outcome(fact, SemanticLayer())
        episode = episodic_write(home=home, text=text, importance=importance, tags=tags, origin=origin)
        return {**_outcome(episode, EpisodicLayer()), "dropped_tags": list(episode.dropped_tags)}

    def restore(self, *, citation: str) -> dict[str, Any]:
        wait_for_embedder()
        layer, row = self._find(citation)
        return _outcome(layer.restore(row=row, origin=cli_origin()), layer)

    def _find(self, citation: str) -> tuple[MemoryLayer, Any]:
        found = row_cited(self._workspace, citation.strip("[]"))
        if found is None:
            raise CommandError(NO_ROW.format(citation))
        return found


def _outcome(result: Any, layer: MemoryLayer) -> dict[str, Any]:
    row_id = layer.citation(result.row) if result.row is not None else None
    return {"outcome": result.outcome, "id": row_id, "code": result.code, "message": result.message}


def _listed(kind: str | None) -> list[MemoryLayer]:
    return [layer for layer in memory_layers() if layer.name in ({kind} if kind else LISTED_LAYERS)]

"""One question over every kind. How a kind finds and weighs its own rows is the kind's matter."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from collections.abc import Collection as Names
from dataclasses import dataclass, replace
from functools import partial

from crewsite.search.constants import RRF_K
from crewsite.search.degradation import collected
from crewsite.search.highlight import highlight
from crewsite.search.kinds import Asker, Reader, RecallHit, SearchKind, search_kinds

__all__ = ["Asker", "Recall", "RecallHit", "search_all"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recall:
    """Hits of all kinds, best first, and what was not right while they were looked for."""

    hits: tuple[RecallHit, ...] = ()
    degraded: tuple[str, ...] = ()


def search_all(
    *,
    query: str,
    workspace: Reader,
    kinds: Names[str] | None = None,
    limit: int = 20,
    asker: Asker | None = None,
) -> Recall:
    """The best hits of every kind (or the named ones) that a workspace reads, with an excerpt each.

    Scores of two kinds mean different things, so kinds are merged by rank; the caller groups by `kind` as it
    likes.
    """
    if not query.strip() or limit <= 0:
        return Recall()
    ranked: list[tuple[int, RecallHit]] = []
    with collected() as degraded:
        for kind in search_kinds():
            if kinds is None or kind.name in kinds:
                ask = partial(kind.recall, query=query, workspace=workspace, limit=limit, asker=asker)
                ranked += enumerate(_hits_of(kind, ask, limit, degraded), start=1)
    ranked.sort(key=lambda place: (place[0], -place[1].score))
    hits = [
        replace(hit, score=1.0 / (RRF_K + rank), highlight=hit.highlight or highlight(hit.text, query))
        for rank, hit in ranked[:limit]
    ]
    return Recall(tuple(hits), tuple(degraded))


def _hits_of(
    kind: SearchKind, ask: Callable[[], Sequence[RecallHit]], limit: int, degraded: dict[str, None]
) -> list[RecallHit]:
    """A kind that fails is named and does not take the others' answers with it."""
    try:
        return list(ask())[:limit]
    except Exception:
        logger.exception("Searching %s failed.", kind.name)
        degraded[f"{kind.name}_failed"] = None
        return []

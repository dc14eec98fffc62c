"""Which hits of a search are worth telling that share no word with the question: the nearest row is always
found, and for "hello" it says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from crewsite.embeddings.service import get_embedder
from memory.changes import is_placed
from memory.constants import thresholds_for

if TYPE_CHECKING:
    from collections.abc import Iterable


class Found(Protocol):
    @property
    def cosine(self) -> float | None: ...

    @property
    def legs(self) -> tuple[str, ...]: ...


H = TypeVar("H", bound=Found)


def worth_telling(question: str, hits: Iterable[H]) -> list[H]:
    """Hits with a word of the question, and those as near as what a prompt is given must be; none is near in
    a script that the model places by accident.
    """
    limits = thresholds_for(get_embedder().model_id)
    floor = limits.relevance if is_placed(question, limits) else None
    return [hit for hit in hits if "keyword" in hit.legs or _is_near(hit, floor)]


def _is_near(hit: Found, floor: float | None) -> bool:
    return floor is not None and hit.cosine is not None and hit.cosine >= floor

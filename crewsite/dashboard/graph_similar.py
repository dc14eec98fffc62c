"""Which rows of the graph are alike: the cosines of their stored vectors. Nothing is embedded for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crewsite.embeddings.spaces import active_space
from crewsite.embeddings.vectors import vectors_of
from crewsite.search.collections import collection_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crewsite.embeddings.protocol import FloatVector

# The slider's ends are what the page draws with the compact model: under 0.5 everything is like everything.
SIMILAR_FROM: Final = 0.5
SIMILAR_SHOWN_FROM: Final = 0.7
NEAREST_A_NODE: Final = 3
MAX_PAIRS: Final = 700  # the most alike; more lines than that show nothing but themselves
LETTERS: Final = {"semantic": "f", "lesson": "l", "episodic": "e"}

Pair = tuple[str, str, float]


def similar_pairs(home_id: int, ids: Mapping[str, Sequence[int]]) -> list[Pair]:
    """Each row with those most like it, each pair once, the most alike first. None without an embedder."""
    space = active_space()
    if space is None:
        return []
    names: list[str] = []
    stored: list[bytes] = []
    for kind, wanted in ids.items():
        found = vectors_of(space.pk, collection_name(kind, home_id), wanted)
        names += [f"{LETTERS[kind]}{pk}" for pk in found]
        stored += found.values()
    if len(names) < 2:  # noqa: PLR2004 - likeness takes two
        return []
    return nearest_pairs(names, _matrix(stored))


def nearest_pairs(names: Sequence[str], matrix: FloatVector) -> list[Pair]:
    """`matrix` is float32 `(n, dim)`, rows L2-normalised."""
    import numpy as np

    cosines = matrix @ matrix.T
    np.fill_diagonal(cosines, -1.0)
    nearest = np.argsort(-cosines, axis=1)[:, :NEAREST_A_NODE]
    pairs: dict[tuple[int, int], float] = {}
    for row, others in enumerate(nearest.tolist()):
        for other in others:
            cosine = float(cosines[row, other])
            if cosine >= SIMILAR_FROM:
                pairs[min(row, other), max(row, other)] = cosine
    ordered = sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(names[one], names[other], round(cosine, 2)) for (one, other), cosine in ordered[:MAX_PAIRS]]


def _matrix(stored: Sequence[bytes]) -> FloatVector:
    import numpy as np

    from crewsite.embeddings.vectors import vector_decode

    return np.stack([vector_decode(data) for data in stored])

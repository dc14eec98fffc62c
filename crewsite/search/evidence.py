"""How a question fits objects that no leg named, such as the neighbours of those it did: from what the legs
have at hand, without another search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from crewsite.search.keyword.scoring import TermTable

if TYPE_CHECKING:
    from crewsite.search.keyword.scoring import Flags, Ids, Scores
    from crewsite.search.vector_index.collection import CollectionIndex
    from crewsite.search.vector_index.rows import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The legs of one search. Without an index or a query vector no object has a cosine."""

    terms: TermTable = field(default_factory=TermTable)
    index: CollectionIndex | None = None
    vector: Floats | None = None

    @property
    def term_weights(self) -> Scores:
        """`(terms,)`"""
        return self.terms.weights

    def cosines(self, ids: Ids) -> Floats:
        """`(objects,)`, NaN for objects without a vector."""
        if self.index is None or self.vector is None:
            return np.full(len(ids), np.nan, dtype=np.float32)
        return self.index.scores(self.vector, ids)

    def terms_held(self, ids: Ids) -> Flags:
        """`(objects, terms)`: whether an object has a term; all False for an object that is unknown."""
        return self.terms.held_by(ids)

    def holds_any(self, object_ids: list[int]) -> list[bool]:
        """Whether an object has a term of the question at all."""
        held = self.terms_held(np.array(object_ids, dtype=np.int64))
        return [any(has) for has in held.tolist()]

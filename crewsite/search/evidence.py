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
    from crewsite.search.words import Term


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

    @property
    def asked(self) -> list[Term]:
        """What was looked for, in the order of the columns."""
        return [posting.term for posting in self.terms.postings]

    def cosines(self, ids: Ids) -> Floats:
        """`(objects,)`, NaN for objects without a vector."""
        if self.index is None or self.vector is None:
            return np.full(len(ids), np.nan, dtype=np.float32)
        return self.index.scores(self.vector, ids)

    def terms_held(self, ids: Ids) -> Flags:
        """`(objects, terms)`: whether an object has a term; all False for an object that is unknown."""
        return self.terms.held_by(ids)

"""Keyword search without an index, through the ORM: for databases whose own full-text index is not set up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from operator import or_

from django.db.models import Q

from crewsite.search import counts
from crewsite.search.constants import PORTABLE_ROWS_MAX
from crewsite.search.keyword import KeywordAnswer
from crewsite.search.models import Document, documents_of
from crewsite.search.words import Term, query_terms, stem_prefix


class PortableIndex:
    engine = "portable"

    def search(self, *, collection: str, query: str, k: int) -> KeywordAnswer:
        terms = query_terms(query)
        if not terms or k <= 0:
            return KeywordAnswer()
        anywhere = reduce(or_, (Q(text__icontains=stem_prefix(term.text)) for term in terms))
        rows = documents_of(collection).filter(anywhere).order_by("-object_id")[:PORTABLE_ROWS_MAX]
        texts = dict(rows.values_list("object_id", "text"))
        return _ranked(texts, terms, k, total=counts.document_count(collection))

    def replace(self, *, removed: Sequence[Document], added: Sequence[Document]) -> None:
        """Nothing to keep: the documents themselves are read."""

    def is_in_step(self) -> bool:
        return True

    def rebuild(self) -> None:
        """Nothing to make."""

    def merge(self) -> None:
        """Nothing to join."""


def _ranked(texts: dict[int, str], terms: Sequence[Term], k: int, *, total: int) -> KeywordAnswer:
    import numpy as np

    from crewsite.search.keyword.scoring import Posting, rank, term_table

    postings = []
    for term in terms:
        pattern = _pattern(term)
        having = sorted(object_id for object_id, text in texts.items() if pattern.search(text))
        postings.append(Posting(term, np.array(having, dtype=np.int64), len(having)))
    if not any(posting.count for posting in postings):
        return KeywordAnswer()
    table = term_table(postings, total=total)
    return KeywordAnswer(tuple(rank(table, asked=len(terms), k=k)), terms=table)


def _pattern(term: Term) -> re.Pattern[str]:
    part = re.escape(stem_prefix(term.text))
    return re.compile(rf"\b{part}" if term.kind == "word" else part, re.IGNORECASE)

"""Keyword search without an index, through the ORM: for databases whose own full-text index is not set up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from operator import and_, or_
from typing import Final

from django.db.models import Q

from crewsite.search import counts
from crewsite.search.constants import PORTABLE_ROWS_MAX
from crewsite.search.keyword import KeywordAnswer
from crewsite.search.models import Document, documents_of
from crewsite.search.words import Term, query_terms, stem_prefix

_WORD: Final = re.compile(r"[^\W_]+")


class PortableIndex:
    engine = "portable"

    def search(self, *, collection: str, query: str, k: int) -> KeywordAnswer:
        terms = query_terms(query)
        if not terms or k <= 0:
            return KeywordAnswer()
        anywhere = reduce(or_, map(_may_have, terms))
        rows = documents_of(collection).filter(anywhere).order_by("-object_id")[:PORTABLE_ROWS_MAX]
        texts = dict(rows.values_list("object_id", "folded"))
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
        has = _matcher(term)
        having = sorted(object_id for object_id, text in texts.items() if has(text))
        postings.append(Posting(term, np.array(having, dtype=np.int64), len(having)))
    if not any(posting.count for posting in postings):
        return KeywordAnswer()
    table = term_table(postings, total=total)
    return KeywordAnswer(tuple(rank(table, asked=len(terms), k=k)), terms=table)


def _may_have(term: Term) -> Q:
    parts = _words(term.text) if term.kind == "word" else [term.text]
    return reduce(and_, (Q(folded__contains=stem_prefix(part)) for part in parts), Q())


def _matcher(term: Term) -> Callable[[str], bool]:
    """Whether a folded text has a term: the same stems, one behind the other, as FTS5 compares them."""
    if term.kind != "word":
        return lambda text: term.text in text
    words = _words(term.text)
    asked = list(map(_stem, words))
    forms = [rf"{re.escape(stem_prefix(word))}[^\W_]*" for word in words]
    pattern = re.compile(r"(?<![^\W_])" + r"[\W_]+".join(forms))
    return lambda text: any(list(map(_stem, _words(found))) == asked for found in pattern.findall(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    import snowballstemmer

    return str(snowballstemmer.stemmer("porter").stemWord(word))

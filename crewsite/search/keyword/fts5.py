"""Keyword search on SQLite. Scope is the range of row ids that a collection owns, which FTS5 seeks to inside
the index.

Rank is worked out here over the collection's own postings: FTS5's bm25() counts every collection's documents,
visits each match of a common word (7 ms at 10,000 rows, measured) and would let one home's words weigh in
another's answers.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from django.db import DatabaseError, connection

from crewsite.search import counts
from crewsite.search.constants import (
    CANDIDATES_PER_HIT,
    COMMON_POSTINGS_MAX,
    COMMON_TERM_MIN,
    COMMON_TERM_SHARE,
)
from crewsite.search.keyword import KeywordAnswer, KeywordHit, schema
from crewsite.search.keyword.portable import PortableIndex
from crewsite.search.models import document_range
from crewsite.search.scopes import collection_number
from crewsite.search.words import Term, query_terms

if TYPE_CHECKING:
    from crewsite.search.keyword.scoring import Ids, Posting, Texts
    from crewsite.search.models import Document

logger = logging.getLogger(__name__)

_MATCH: Final = {"word": schema.WORDS, "gram": schema.GRAMS}
# Object ids joined by commas leave SQLite five times faster than as rows (0.17 us each, measured).
_POSTINGS: Final = (
    "SELECT group_concat(rowid - %s) FROM (SELECT rowid FROM {table} WHERE {table} MATCH %s"
    " AND rowid BETWEEN %s AND %s ORDER BY rowid {order} LIMIT %s)"
)
_COUNT: Final = "SELECT count(*) FROM {table} WHERE {table} MATCH %s AND rowid BETWEEN %s AND %s"
_SCAN: Final = (
    "SELECT group_concat(id - %s) FROM (SELECT id FROM search_document"
    " WHERE id BETWEEN %s AND %s AND unspaced AND instr(text, %s) ORDER BY id)"
)
_TEXTS: Final = (
    "SELECT document.object_id, document.text, length.sz FROM search_document AS document"
    " JOIN search_words_docsize AS length ON length.id = document.id"
    " WHERE document.id IN (SELECT value + %s FROM json_each(%s))"
)


class Fts5Index:
    engine = "fts5"

    def search(self, *, collection: str, query: str, k: int) -> KeywordAnswer:
        terms = query_terms(query)
        if not terms or k <= 0:
            return KeywordAnswer()
        number = collection_number(collection)
        if number is None:
            return KeywordAnswer()
        try:
            return KeywordAnswer(tuple(_search(collection, number, terms, k)))
        except DatabaseError as error:
            if not schema.is_broken(error):
                raise
            logger.warning("The keyword index is broken: %s", error)
        try:
            self.rebuild()
            return KeywordAnswer(tuple(_search(collection, number, terms, k)), ("keyword_index_rebuilt",))
        except DatabaseError as error:
            if connection.needs_rollback:
                raise
            logger.error("The keyword index could not be rebuilt: %s", error)
        return KeywordAnswer(
            PortableIndex().search(collection=collection, query=query, k=k).hits, ("keyword_index_broken",)
        )

    def replace(self, *, removed: Sequence[Document], added: Sequence[Document]) -> None:
        try:
            with connection.cursor() as cursor:
                _remove(cursor, removed)
                _add(cursor, added)
        except DatabaseError as error:
            if not schema.is_broken(error):
                raise
            logger.warning("The keyword index is broken: %s", error)
            self.rebuild()

    def is_in_step(self) -> bool:
        from crewsite.search.models import Document

        try:
            words, grams = schema.rows_counted()
        except DatabaseError:
            return False
        return words == Document.objects.count() and grams == Document.objects.filter(unspaced=True).count()

    def rebuild(self) -> None:
        schema.tables_rebuild()


def _add(cursor: Any, documents: Sequence[Document]) -> None:
    rows = [(document.pk, document.text) for document in documents]
    cursor.executemany("INSERT INTO search_words(rowid, text) VALUES (%s, %s)", rows)
    rows = [(document.pk, document.text) for document in documents if document.unspaced]
    cursor.executemany("INSERT INTO search_grams(rowid, text) VALUES (%s, %s)", rows)


def _remove(cursor: Any, documents: Sequence[Document]) -> None:
    rows = [(document.pk, document.text) for document in documents]
    cursor.executemany("INSERT INTO search_words(search_words, rowid, text) VALUES ('delete', %s, %s)", rows)
    rows = [(document.pk, document.text) for document in documents if document.unspaced]
    cursor.executemany("INSERT INTO search_grams(search_grams, rowid, text) VALUES ('delete', %s, %s)", rows)


def _search(collection: str, number: int, terms: tuple[Term, ...], k: int) -> list[KeywordHit]:
    from crewsite.search.keyword.scoring import rank

    total = counts.document_count(collection)
    with connection.cursor() as cursor:
        reader = _Reader(cursor, collection, *document_range(number))
        common = max(COMMON_TERM_MIN, int(total * COMMON_TERM_SHARE))
        postings = reader.postings(terms, common=common, enough=CANDIDATES_PER_HIT * k)
        if not any(len(posting.ids) for posting in postings):
            return []
        return rank(postings, asked=len(terms), total=total, k=k, fetch=reader.texts)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads of one collection within one search."""

    cursor: Any
    collection: str
    first: int
    last: int

    def postings(self, terms: tuple[Term, ...], *, common: int, enough: int) -> list[Posting]:
        """Documents of every term. Of a term in more than `common` documents only those that other terms have
        found too, once these have found `enough`.
        """
        found: list[Posting] = []
        deferred: list[Term] = []
        for term in terms:
            posting = None if self._is_common(term, common) else self._posting(term, common)
            if posting is None:
                deferred.append(term)
            else:
                found.append(posting)
        counted = sorted(((self._count(term), term) for term in deferred), key=itemgetter(0))
        for count, term in counted:
            if sum(len(posting.ids) for posting in found) < enough:
                found.append(self._common_posting(term, count, []))
            else:
                found.append(
                    self._common_posting(term, count, [p.term for p in found if len(p.ids) <= common])
                )
        return found

    def texts(self, object_ids: list[int]) -> Texts:
        mean = schema.average_length(self.cursor)
        self.cursor.execute(_TEXTS, [self.first, str(object_ids)])
        return {
            object_id: (text, schema.first_varint(size) / mean)
            for object_id, text, size in self.cursor.fetchall()
        }

    def _is_common(self, term: Term, common: int) -> bool:
        known = counts.term_count(self.collection, term.text)
        return term.kind != "part" and known is not None and known > common

    def _posting(self, term: Term, common: int) -> Posting | None:
        """None when it turns out to be a common term."""
        from crewsite.search.keyword.scoring import Posting

        if term.kind == "part":
            self.cursor.execute(_SCAN, [self.first, self.first, self.last, term.text])
            ids = _parse(self.cursor.fetchone()[0])
            return Posting(term, ids, len(ids))
        ids = self._matching(_MATCH[term.kind], quoted(term), common + 1)
        return Posting(term, ids, len(ids)) if len(ids) <= common else None

    def _common_posting(self, term: Term, count: int, finders: list[Term]) -> Posting:
        """All documents of a term, or those of them that one of the finders has."""
        from crewsite.search.keyword.scoring import Posting

        match = quoted(term)
        if finders and all(other.kind == term.kind for other in finders):
            match = f"{match} AND ({' OR '.join(map(quoted, finders))})"
        # The newest, when they are too many to read them all; backwards is the slower way through an index.
        order = "DESC" if count > COMMON_POSTINGS_MAX else "ASC"
        ids = self._matching(_MATCH[term.kind], match, COMMON_POSTINGS_MAX, order=order)
        return Posting(term, ids, max(count, len(ids)))

    def _count(self, term: Term) -> int:
        known = counts.term_count(self.collection, term.text)
        if known is not None:
            return known
        statement = _COUNT.format(table=_MATCH[term.kind])
        self.cursor.execute(statement, [quoted(term), self.first, self.last])
        count = int(self.cursor.fetchone()[0])
        counts.term_count_set(self.collection, term.text, count)
        return count

    def _matching(self, table: str, match: str, limit: int, *, order: str = "ASC") -> Ids:
        statement = _POSTINGS.format(table=table, order=order)
        self.cursor.execute(statement, [self.first, match, self.first, self.last, limit])
        return _parse(self.cursor.fetchone()[0])


def quoted(term: Term) -> str:
    """A term as FTS5 string: between quotes nothing is syntax."""
    return '"' + term.text.replace('"', '""') + '"'


def _parse(joined: str | None) -> Ids:
    """Ascending object ids."""
    import numpy as np

    if not joined:
        return np.empty(0, dtype=np.int64)
    return np.sort(np.fromstring(joined, dtype=np.int64, sep=","))

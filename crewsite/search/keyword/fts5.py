"""Keyword search on SQLite. Scope is the range of row ids that a collection owns, which FTS5 seeks to inside
the index.

Rank is worked out here over the collection's own postings: FTS5's bm25() counts every collection's documents,
visits each match of a common word (7 ms at 10,000 rows, measured) and would let one home's words weigh in
another's answers.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from django.db import DatabaseError, connection

from crewsite.search import counts
from crewsite.search.constants import (
    CANDIDATES_PER_HIT,
    COMMON_POSTINGS_MAX,
    COMMON_TERM_MIN,
    COMMON_TERM_SHARE,
    OBJECT_ID_BITS,
)
from crewsite.search.keyword import KeywordAnswer, schema
from crewsite.search.keyword.portable import PortableIndex
from crewsite.search.words import Term, query_terms

if TYPE_CHECKING:
    from crewsite.search.keyword.scoring import Ids, Posting
    from crewsite.search.models import Document

logger = logging.getLogger(__name__)

_MATCH: Final = {"word": schema.WORDS, "gram": schema.GRAMS, "part": ""}
# Object ids joined by commas leave SQLite five times faster than as rows (0.17 us each, measured). All terms
# of a question go in one statement: each by itself costs 0.05 ms before it reads anything.
# Row ids are told apart by their collection's number, which is found in the same statement.
_RANGE: Final = (
    "BETWEEN (SELECT id << {bits} FROM search_collection WHERE name = %s)"
    " AND (SELECT (id << {bits}) + (1 << {bits}) - 1 FROM search_collection WHERE name = %s)"
)
_POSTINGS: Final = (
    "SELECT group_concat(rowid & ((1 << {bits}) - 1)) FROM (SELECT rowid FROM {table} WHERE {table} MATCH %s"
    " AND rowid {range} ORDER BY rowid {order} LIMIT %s)"
)
_SCAN: Final = (
    "SELECT group_concat(id & ((1 << {bits}) - 1)) FROM (SELECT id FROM search_document WHERE instr(text, %s)"
    " AND id {range} AND unspaced ORDER BY id LIMIT %s)"
)
_COUNT: Final = "SELECT count(*) FROM {table} WHERE {table} MATCH %s AND rowid {range}"
# More than a collection has objects.
_ALL: Final = 1 << 62
Order = Literal["ASC", "DESC"]
_Part = tuple[str, list[Any]]  # a statement with one value, and its parameters


class Fts5Index:
    engine = "fts5"

    def search(self, *, collection: str, query: str, k: int) -> KeywordAnswer:
        terms = query_terms(query)
        if not terms or k <= 0:
            return KeywordAnswer()
        try:
            return _search(collection, terms, k)
        except DatabaseError as error:
            if not schema.is_broken(error):
                raise
            logger.warning("The keyword index is broken: %s", error)
        try:
            self.rebuild()
            return replace(_search(collection, terms, k), degraded=("keyword_index_rebuilt",))
        except DatabaseError as error:
            if connection.needs_rollback:
                raise
            logger.error("The keyword index could not be rebuilt: %s", error)
        answer = PortableIndex().search(collection=collection, query=query, k=k)
        return replace(answer, degraded=("keyword_index_broken",))

    def replace(self, *, removed: Sequence[Document], added: Sequence[Document]) -> None:
        try:
            with connection.cursor() as cursor:
                _remove(cursor, removed)
                _add(cursor, added)
                schema.tables_flush(cursor)
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

    def merge(self) -> None:
        """Looks at every block before, since readers do not notice all that is torn."""
        try:
            schema.tables_check()
            schema.tables_merge()
        except DatabaseError as error:
            if not schema.is_broken(error):
                raise
            logger.warning("The keyword index is broken: %s", error)
            self.rebuild()


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


def _search(collection: str, terms: tuple[Term, ...], k: int) -> KeywordAnswer:
    from crewsite.search.keyword.scoring import rank, term_table

    total = counts.document_count(collection)
    with connection.cursor() as cursor:
        reader = _Reader(cursor, collection)
        common = max(COMMON_TERM_MIN, int(total * COMMON_TERM_SHARE))
        postings = reader.postings(terms, common=common, enough=CANDIDATES_PER_HIT * k, total=total)
    if not any(len(posting.ids) for posting in postings):
        return KeywordAnswer()
    table = term_table(postings, total=total)
    return KeywordAnswer(tuple(rank(table, asked=len(terms), k=k)), terms=table)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One term's documents to read: what the index is asked, from which end, and how many."""

    term: Term
    match: str
    limit: int
    order: Order = "ASC"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads of one collection within one search."""

    cursor: Any
    collection: str

    def postings(self, terms: tuple[Term, ...], *, common: int, enough: int, total: int) -> list[Posting]:
        """Documents of every term, in two statements at most. Of a term in more than `common` documents only
        those that other terms have found too, once these have found `enough`.
        """
        from crewsite.search.keyword.scoring import Posting

        rare = [_rare(term, common) for term in terms if not self._is_common(term, common)]
        found = [
            Posting(wanted.term, ids, len(ids))
            for wanted, ids in zip(rare, self._read(rare), strict=True)
            if len(ids) < wanted.limit
        ]
        finders = [posting.term for posting in found]
        rest = [term for term in terms if term not in finders]
        if sum(len(posting.ids) for posting in found) < enough:
            finders = []
        # The newest, when they may be too many to read them all; backwards is the slower way through it.
        order: Order = "DESC" if total > COMMON_POSTINGS_MAX else "ASC"
        return found + self._read_common([_common(term, finders, order) for term in rest])

    def _is_common(self, term: Term, common: int) -> bool:
        known = counts.term_count(self.collection, term.text)
        return term.kind != "part" and known is not None and known > common

    def _read_common(self, wanted: list[_Wanted]) -> list[Posting]:
        """Common terms, with how many documents have them, counted where that is not known."""
        from crewsite.search.keyword.scoring import Posting

        known = {one.term: counts.term_count(self.collection, one.term.text) for one in wanted}
        unknown = [term for term, count in known.items() if count is None]
        values = self._each([self._postings(one) for one in wanted] + [self._count(term) for term in unknown])
        for term, count in zip(unknown, values[len(wanted) :], strict=True):
            counts.term_count_set(self.collection, term.text, count)
            known[term] = count
        ids = map(_parse, values[: len(wanted)])
        return [
            Posting(one.term, found, max(known[one.term] or 0, len(found)))
            for one, found in zip(wanted, ids, strict=True)
        ]

    def _read(self, wanted: list[_Wanted]) -> list[Ids]:
        return [_parse(joined) for joined in self._each([self._postings(one) for one in wanted])]

    def _postings(self, one: _Wanted) -> _Part:
        statement = _SCAN if one.term.kind == "part" else _POSTINGS
        return _filled(statement, one.term, one.order), [one.match, *self._here, one.limit]

    def _count(self, term: Term) -> _Part:
        return _filled(_COUNT, term), [quoted(term), *self._here]

    @property
    def _here(self) -> tuple[str, str]:
        return self.collection, self.collection

    def _each(self, parts: list[_Part]) -> list[Any]:
        """The one value of each statement, read by one of them all."""
        if not parts:
            return []
        values = [value for _, given in parts for value in given]
        if len(parts) == 1:
            self.cursor.execute(parts[0][0], values)
            return [self.cursor.fetchone()[0]]
        self.cursor.execute("SELECT " + ", ".join(f"({statement})" for statement, _ in parts), values)
        return list(self.cursor.fetchone())


def _filled(statement: str, term: Term, order: str = "ASC") -> str:
    ranged = statement.replace("{range}", _RANGE)
    return ranged.format(table=_MATCH[term.kind], bits=OBJECT_ID_BITS, order=order)


def _rare(term: Term, common: int) -> _Wanted:
    """One more than a rare term may have, to see whether it is one. Substrings of one or two characters are
    looked for in the texts, which costs the same for all of them."""
    if term.kind == "part":
        return _Wanted(term, term.text, _ALL)
    return _Wanted(term, quoted(term), common + 1)


def _common(term: Term, finders: list[Term], order: Order) -> _Wanted:
    """All documents of a common term, or those of them that one of the finders has."""
    match = quoted(term)
    if finders and all(other.kind == term.kind for other in finders):
        match = f"{match} AND ({' OR '.join(map(quoted, finders))})"
    return _Wanted(term, match, COMMON_POSTINGS_MAX, order)


def quoted(term: Term) -> str:
    """A term as FTS5 string: between quotes nothing is syntax."""
    return '"' + term.text.replace('"', '""') + '"'


def _parse(joined: str | None) -> Ids:
    """Ascending object ids."""
    import numpy as np

    if not joined:
        return np.empty(0, dtype=np.int64)
    return np.sort(np.fromstring(joined, dtype=np.int64, sep=","))

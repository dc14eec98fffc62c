"""Keyword search on SQLite. Scope is the range of row ids that a collection owns, which FTS5 seeks to inside
the index.

Rank is worked out here over the collection's own postings: FTS5's bm25() counts every collection's documents,
visits each match of a common word (7 ms at 10,000 rows, measured) and would let one home's words weigh in
another's answers.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError, connection

from crewsite.jobs.errors import MaintenanceInProgress
from crewsite.search import counts
from crewsite.search.constants import (
    CANDIDATES_PER_HIT,
    COMMON_POSTINGS_MAX,
    COMMON_TERM_MIN,
    COMMON_TERM_SHARE,
)
from crewsite.search.keyword import KeywordAnswer, schema
from crewsite.search.keyword.portable import PortableIndex
from crewsite.search.keyword.postings import TABLES, postings_read
from crewsite.search.words import query_terms

if TYPE_CHECKING:
    from crewsite.search.models import Document
    from crewsite.search.words import Term

logger = logging.getLogger(__name__)


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
        except (DatabaseError, MaintenanceInProgress) as error:
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
    _for_each(cursor, "INSERT INTO {table}(rowid, text) VALUES (%s, %s)", documents)


def _remove(cursor: Any, documents: Sequence[Document]) -> None:
    _for_each(cursor, "INSERT INTO {table}({table}, rowid, text) VALUES ('delete', %s, %s)", documents)


def _for_each(cursor: Any, statement: str, documents: Sequence[Document]) -> None:
    unspaced = [document for document in documents if document.unspaced]
    for table, those in ((schema.WORDS, documents), (schema.GRAMS, unspaced)):
        if those:
            rows = [(document.pk, document.folded) for document in those]
            cursor.executemany(statement.format(table=table), rows)


def _search(collection: str, terms: tuple[Term, ...], k: int) -> KeywordAnswer:
    from crewsite.search.keyword.lost import lost_check
    from crewsite.search.keyword.scoring import rank, term_table

    total = counts.document_count(collection)
    common = max(COMMON_TERM_MIN, int(total * COMMON_TERM_SHARE))
    with connection.cursor() as cursor:
        postings = postings_read(
            cursor,
            collection,
            terms,
            common=common,
            enough=CANDIDATES_PER_HIT * k,
            newest_first=total > COMMON_POSTINGS_MAX,
            known=lambda term: counts.term_count(collection, term.text),
        )
    for posting in postings:
        if posting.count > common:
            counts.term_count_set(collection, posting.term.text, posting.count)
    for kind, name in TABLES.items():
        found = [len(posting.ids) for posting in postings if posting.term.kind == kind]
        if found and not any(found):
            lost_check(name, collection)
    if not any(len(posting.ids) for posting in postings):
        return KeywordAnswer()
    table = term_table(postings, total=total)
    return KeywordAnswer(tuple(rank(table, asked=len(terms), k=k)), terms=table)

"""Blocks of the keyword index that are torn but there: SQLite meets them when it writes what it held in
memory, late in a transaction.
"""

from __future__ import annotations

import pytest
from django.db import connection

from crewsite.search.keyword import keyword_index, schema
from crewsite.search.service import candidates
from tests.search.conftest import put

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite_only]
HOME = "episodic:1"
BLOCKS = [
    "UPDATE search_words_data SET block = zeroblob(length(block)) WHERE id >= 10",
    "UPDATE search_words_data SET block = x'ff' WHERE id = 10",
    "UPDATE search_grams_data SET block = x'ff' WHERE id = 10",
    "UPDATE search_words_data SET block = x'ff' WHERE id = 1",
    "UPDATE search_words_data SET block = x'' WHERE id = 1",
    "DELETE FROM search_words_data WHERE id >= 10",
]


def tear(statement: str) -> None:
    """As another program would: this connection's own cache of the index is dropped with it."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
    connection.close()


@pytest.mark.parametrize("statement", BLOCKS)
def test_a_write_heals_torn_blocks_and_succeeds(statement: str) -> None:
    for number in range(30):
        put(HOME, {number + 1: f"note {number} about the violin 適者生存 {number}"}, embed=False)
    tear(statement)
    put(HOME, {1: "the note was changed 適者生存", 31: "a new note 適者"}, embed=False)
    put(HOME, {32: "the newest note"}, embed=False)
    ids = {hit.object_id for hit in candidates(collection=HOME, query="note", k=50, mode="keyword").hits}
    assert ids == set(range(1, 33))
    assert keyword_index().is_in_step()


@pytest.mark.parametrize("statement", BLOCKS)
def test_what_readers_would_not_notice_is_found_and_made_anew_in_the_background(statement: str) -> None:
    for number in range(30):
        put(HOME, {number + 1: f"note {number} about the violin 適者生存 {number}"}, embed=False)
    tear(statement)
    keyword_index().merge()
    for query in ("violin", "適者生存"):
        hits = candidates(collection=HOME, query=query, k=50, mode="keyword").hits
        assert len(hits) == 30


def test_documents_without_words_are_no_fault() -> None:
    put(HOME, {1: "...", 2: "東京"}, embed=False)
    schema.tables_check()

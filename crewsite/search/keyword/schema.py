"""The FTS5 tables of SQLite: making them, telling that one is broken, and making them anew from the
documents.

Both are contentless: they hold the index only, since `search_document` has the text. Their row id is the
document's.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from django.db import DatabaseError, connection, transaction

from crewsite.search.constants import MERGE_PAGES, SEGMENTS_MAX

logger = logging.getLogger(__name__)

WORDS: Final = "search_words"
GRAMS: Final = "search_grams"
_TABLES: Final = {
    WORDS: "CREATE VIRTUAL TABLE IF NOT EXISTS search_words USING fts5("
    "text, content='', tokenize='porter unicode61 remove_diacritics 2')",
    GRAMS: "CREATE VIRTUAL TABLE IF NOT EXISTS search_grams USING fts5(text, content='', tokenize='trigram')",
}
_FILL: Final = (
    "INSERT INTO search_words(rowid, text) SELECT id, folded FROM search_document",
    "INSERT INTO search_grams(rowid, text) SELECT id, folded FROM search_document WHERE unspaced",
)
# The record of an FTS5 table that lists its segments, and the mark of its second format.
_STRUCTURE: Final = 10
_STRUCTURE_MARK: Final = b"\xff\x00\x00\x01"
_SHADOWS: Final = ("data", "idx", "content", "docsize", "config")

# What SQLite says when an FTS5 table is missing, torn or out of step with its own shadow tables. A busy, full
# or read-only database says other things, and a rebuild would not help it.
_BROKEN: Final = (
    "no such table: search_",
    "no such table: main.search_",
    "malformed",
    "SQL logic error",
    "vtable constructor failed",
    "constraint failed",
    "fts5: ",
)


def is_broken(error: DatabaseError) -> bool:
    return any(sign in str(error) for sign in _BROKEN)


def tables_create(cursor: Any) -> None:
    for statement in _TABLES.values():
        cursor.execute(statement)


def tables_drop(cursor: Any) -> None:
    for table in _TABLES:
        try:
            cursor.execute(f"DROP TABLE IF EXISTS {table}")
        except DatabaseError as error:
            if not is_broken(error):
                raise
            _drop_by_force(cursor, table)


def _drop_by_force(cursor: Any, table: str) -> None:
    """For a table whose own code cannot even open it: SQLite refuses DROP TABLE then."""
    cursor.execute("PRAGMA writable_schema=ON")
    cursor.execute("DELETE FROM sqlite_master WHERE name = %s", [table])
    cursor.execute("PRAGMA writable_schema=RESET")
    for shadow in _SHADOWS:
        cursor.execute(f"DROP TABLE IF EXISTS {table}_{shadow}")


def tables_flush(cursor: Any) -> None:
    """Write what FTS5 holds in memory now, by a savepoint, so that torn blocks are met here and not by the
    commit, which nobody could heal.
    """
    cursor.execute("SAVEPOINT search_flush")
    cursor.execute("RELEASE search_flush")


def tables_rebuild() -> None:
    """Drop, create and fill both tables in one transaction; other processes never see them half full.

    No savepoint: FTS5 answers one by writing what it holds in memory, into the very tables that are broken.
    """
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        tables_drop(cursor)
        tables_create(cursor)
        for statement in _FILL:
            cursor.execute(statement)
    logger.warning("The keyword index was rebuilt from the documents.")


def tables_check() -> None:
    """Raises DatabaseError when a table's blocks are torn, also where a reader would find nothing and see no
    fault. 30 ms at 20,000 documents (measured), with the write lock: background work.
    """
    with connection.cursor() as cursor:
        for table in _TABLES:
            cursor.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")  # noqa: S608
            cursor.execute(
                f"SELECT block, EXISTS (SELECT 1 FROM {table}_docsize WHERE sz > x'00')"  # noqa: S608
                f" FROM {table}_data WHERE id = {_STRUCTURE}"
            )
            block, has_words = cursor.fetchone() or (b"", True)
            if has_words and not _has_segments(bytes(block or b"")):
                raise DatabaseError(f"fts5: {table} has lost its segments")


def _has_segments(structure: bytes) -> bool:
    """Behind four bytes (in later versions of SQLite eight): the number of levels, that of segments."""
    start = 8 if structure[4:8] == _STRUCTURE_MARK else 4
    return any(structure[start + 1 : start + 2])


def tables_merge() -> int:
    """Join the segments of tables that have many, in short steps; returns how many steps it took."""
    steps = 0
    with connection.cursor() as cursor:
        for table in _TABLES:
            if _segments(cursor, table) <= SEGMENTS_MAX:
                continue
            # Negative begins a merge of all segments; it is done when a step has nothing left to write.
            pages, written = -MERGE_PAGES, 2
            while written > 1:
                before = _changes(cursor)
                cursor.execute(f"INSERT INTO {table}({table}, rank) VALUES ('merge', %s)", [pages])  # noqa: S608
                pages, written = MERGE_PAGES, _changes(cursor) - before
                steps += 1
    return steps


def _segments(cursor: Any, table: str) -> int:
    cursor.execute(f"SELECT count(DISTINCT segid) FROM {table}_idx")  # noqa: S608 - a name of ours
    return int(cursor.fetchone()[0])


def _changes(cursor: Any) -> int:
    cursor.execute("SELECT total_changes()")
    return int(cursor.fetchone()[0])


def rows_counted() -> tuple[int, int]:
    """(rows of the word table, rows of the trigram table); raises DatabaseError when one is broken."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT count(*) FROM search_words_docsize), (SELECT count(*) FROM search_grams_docsize)"
        )
        words, grams = cursor.fetchone()
    return words, grams

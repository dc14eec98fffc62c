"""The documents that have each term of a question, read from the FTS5 tables in one statement whatever the
question and the collection. What they weigh is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from crewsite.search.constants import COMMON_POSTINGS_MAX, OBJECT_ID_BITS
from crewsite.search.keyword import schema

if TYPE_CHECKING:
    from crewsite.search.keyword.scoring import Ids, Posting
    from crewsite.search.words import Term

TABLES: Final = {"word": schema.WORDS, "gram": schema.GRAMS}
# Row ids are told apart by their collection's number; the rest of one is the object's id.
_HERE: Final = (
    "here(low, high) AS (SELECT id << {bits}, (id << {bits}) + (1 << {bits}) - 1"
    " FROM search_collection WHERE name = %s)"
)
# Object ids joined by commas leave SQLite five times faster than as rows (0.17 us each, measured).
_JOINED: Final = (
    "(SELECT group_concat(rowid & ((1 << {bits}) - 1)) FROM (SELECT rowid FROM {table}"
    " WHERE {table} MATCH {match} AND rowid BETWEEN (SELECT low FROM here) AND (SELECT high FROM here)"
    " ORDER BY rowid {order} LIMIT {limit}))"
)
_COUNTED: Final = (
    "(SELECT count(*) FROM {table}"
    " WHERE {table} MATCH {match} AND rowid BETWEEN (SELECT low FROM here) AND (SELECT high FROM here))"
)
# Of each term one document more than a rare one may have, unless it is known to be common; then how many that
# were, and the rare terms as one question.
_RARE: Final = (
    "{table}_asked(place, match, known) AS (VALUES {asked}),"
    " {table}_read AS MATERIALIZED (SELECT place, match, known,"
    " CASE WHEN known IS NULL THEN {joined} END AS ids FROM {table}_asked AS asked),"
    " {table}_sized AS MATERIALIZED (SELECT *, CASE WHEN known IS NOT NULL THEN known WHEN ids IS NULL THEN 0"
    " ELSE length(ids) - length(replace(ids, ',', '')) + 1 END AS size FROM {table}_read),"
    " {table}_rare AS MATERIALIZED (SELECT group_concat(match, ' OR ') AS match, total(size) AS size"
    " FROM {table}_sized WHERE size <= {common})"
)
# Of a common term those documents that the rare ones have found too, once these have found enough.
_CHOSEN: Final = (
    "SELECT place, CASE WHEN sized.size <= {common} THEN sized.ids ELSE {joined} END,"
    " CASE WHEN sized.size <= {common} OR known IS NOT NULL THEN sized.size ELSE {counted} END"
    " FROM {table}_sized AS sized, {table}_rare AS rare"
)
_FOUND_TOO: Final = (
    "CASE WHEN rare.size >= {enough} THEN sized.match || ' AND (' || rare.match || ')' ELSE sized.match END"
)
# Substrings of one or two characters are looked for in the texts, which costs the same for all of them.
_SCANNED: Final = (
    "SELECT %s, (SELECT group_concat(id & ((1 << {bits}) - 1)) FROM (SELECT id FROM search_document"
    " WHERE instr(folded, %s) AND id BETWEEN (SELECT low FROM here) AND (SELECT high FROM here) AND unspaced"
    " ORDER BY id)), NULL"
)


def postings_read(
    cursor: Any,
    collection: str,
    terms: Sequence[Term],
    *,
    common: int,
    enough: int,
    newest_first: bool,
    known: Callable[[Term], int | None],
) -> list[Posting]:
    """A posting for every term, in their order. A term in more than `common` documents is a common one; of
    such the documents that rarer terms have found are enough, where these have found `enough`. `known` tells
    how many documents had a common term lately.
    """
    from crewsite.search.keyword.scoring import Posting

    with_: list[str] = [_HERE.format(bits=OBJECT_ID_BITS)]
    selects: list[str] = []
    values: list[Any] = [collection]
    for kind, table in TABLES.items():
        asked = [(place, term) for place, term in enumerate(terms) if term.kind == kind]
        if not asked:
            continue
        fields = {"table": table, "common": common, "bits": OBJECT_ID_BITS}
        first = _JOINED.format(**fields, match="asked.match", order="ASC", limit=common + 1)
        rows = ", ".join(["(%s, %s, %s)"] * len(asked))
        with_.append(_RARE.format(**fields, asked=rows, joined=first))
        for place, term in asked:
            count = known(term)
            values += [place, quoted(term), count if count is not None and count > common else None]
        # The newest, when they may be too many to read them all; backwards is the slower way through it.
        order = "DESC" if newest_first else "ASC"
        match = _FOUND_TOO.format(enough=enough)
        second = _JOINED.format(**fields, match=match, order=order, limit=COMMON_POSTINGS_MAX)
        counted = _COUNTED.format(**fields, match="sized.match")
        selects.append(_CHOSEN.format(**fields, joined=second, counted=counted))
    for place, term in enumerate(terms):
        if term.kind == "part":
            selects.append(_SCANNED.format(bits=OBJECT_ID_BITS))
            values += [place, term.text]
    cursor.execute(f"WITH {', '.join(with_)} {' UNION ALL '.join(selects)}", values)
    found = {place: (_parsed(joined), count) for place, joined, count in cursor.fetchall()}
    return [
        Posting(term, found[place][0], max(found[place][1] or 0, len(found[place][0])))
        for place, term in enumerate(terms)
    ]


def quoted(term: Term) -> str:
    """A term as FTS5 string: between quotes nothing is syntax."""
    return '"' + term.text.replace('"', '""') + '"'


def _parsed(joined: str | None) -> Ids:
    """Ascending object ids."""
    import numpy as np

    if not joined:
        return np.empty(0, dtype=np.int64)
    return np.sort(np.fromstring(joined, dtype=np.int64, sep=","))

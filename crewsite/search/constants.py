"""Numbers of search, each with its source."""

from __future__ import annotations

from typing import Final

# A document's id is collection number and object id in 63 bits: 40 for a million million objects of one
# collection, 23 for eight million collections.
OBJECT_ID_BITS: Final = 40

# A word with a digit in it (POL-358, ZX81-QT) names one thing; it counts twice so that small collections, in
# which every word is rare, still put the thing itself first (chapter 02, 2.9 item 14).
IDENTIFIER_WEIGHT: Final = 2.0
# Terms of one question. Each costs one index read of about 0.1 ms; a pasted page would have hundreds.
QUERY_TERMS_MAX: Final = 24
# Characters of a question that are looked at for terms.
QUERY_CHARS_MAX: Final = 4_000
# A stem shorter than this is the beginning of too many other words.
STEM_CHARS_MIN: Final = 3
# Length of the substrings that the trigram table can match.
GRAM_CHARS: Final = 3
# A term in more than this part of a collection (and at least so many documents) only raises documents that
# other terms found, once these found so many documents for every hit asked for. Reading postings costs 0.17
# us a document (measured at 10,000), so a question made of common words would spend its time on what they
# share.
COMMON_TERM_SHARE: Final = 0.03
COMMON_TERM_MIN: Final = 300
CANDIDATES_PER_HIT: Final = 4
# Postings read of a common term when a question has no rarer one: the newest documents.
COMMON_POSTINGS_MAX: Final = 20_000
# Documents that the portable keyword search looks at: the newest with any term.
PORTABLE_ROWS_MAX: Final = 2_000
# Segments of an FTS5 table: every commit adds one, and every read looks into each. At 10,000 documents in 7
# segments a question of 13 words took 2.5 ms, in one 0.9 ms (measured). More than so many are merged.
SEGMENTS_MAX: Final = 4
# Pages of 4 kB that one step of a merge writes, and so holds the write lock for: 10 to 40 ms (measured).
MERGE_PAGES: Final = 256
# How long counts of a collection (documents, how common a term is) may be out of date; they only steer
# effort.
COUNTS_SECONDS: Final = 2.0
TERM_COUNTS_SECONDS: Final = 60.0
TERM_COUNTS_MAX: Final = 8_192

# Chapter 03, 3.6: reciprocal rank fusion.
RRF_K: Final = 60
# Chapter 02, 2.3: weights of the vector and the keyword leg.
VECTOR_WEIGHT: Final = 0.6
KEYWORD_WEIGHT: Final = 0.4
# Chapter 02, 2.4: MMR.
MMR_LAMBDA: Final = 0.6

# A collection below this many vectors is read from rows in under 10 ms (measured); it needs no base file.
BASE_MIN_ROWS: Final = 2_000
# A base file is written anew when this many changes, and this part of its rows, came after it.
BASE_STALE_ROWS: Final = 1_000
BASE_STALE_SHARE: Final = 0.1
# Changes kept beside the base in memory before a process folds them in. numpy scans 5,000 x 384 in 0.5 ms.
DELTA_MAX_ROWS: Final = 5_000
# Newest rows of a base file whose bytes are compared with the database when it is opened. Histories that
# parted, such as a restored older database, differ at their end.
BASE_TAIL_CHECKED: Final = 32
# Collections whose index a process keeps; the one used longest ago is let go first.
OPEN_COLLECTIONS_MAX: Final = 64

# Documents per step of the backfill: one embedder batch and one transaction.
BACKFILL_BATCH: Final = 64
# How long the backfill waits for a model that is loading (chapter 03, 3.2 allows a switch 600 s).
BACKFILL_WAIT_SECONDS: Final = 600.0
BACKFILL_LEASE_SECONDS: Final = 300
INDEX_WRITE_LEASE_SECONDS: Final = 600
RECONCILE_LEASE_SECONDS: Final = 600
RECONCILE_BATCH: Final = 500
# Rows of one bulk statement, within SQLite's oldest limit of 999 variables.
ROWS_PER_STATEMENT: Final = 150
# Characters of an excerpt around the first match.
HIGHLIGHT_CHARS: Final = 240
# A long text is looked through for its first match in stretches, which overlap by more than a word has.
STRETCH_CHARS: Final = 2_000
STRETCH_OVERLAP_CHARS: Final = 100

"""Numbers of the embedder, each with its source."""

from __future__ import annotations

from typing import Final

# Chapter 03, 3.1: a failed load is tried again after this pause.
LOAD_RETRY_SECONDS: Final = 300.0
# Chapter 03, 3.1: LRU cache of (text, kind, signature).
CACHE_ENTRIES: Final = 1_024
# Chapter 03, 3.1: the bounded pool that async callers embed from.
POOL_THREADS: Final = 2
# While no model is installed, how often a process looks whether one has appeared; a look is two stat calls.
ABSENT_RECHECK_SECONDS: Final = 5.0
# How much of a model file's sha256 goes into its signature: 64 bits tell any two models apart.
SIGNATURE_HASH_CHARS: Final = 16
# Rows per SQL statement: SQLite's oldest supported limit is 999 variables with 6 a row; larger gained nothing here.
ROWS_PER_STATEMENT: Final = 150
# Rows fetched at a time when a collection is streamed: 2,000 of 1 KB keep memory flat.
ROWS_PER_FETCH: Final = 2_000

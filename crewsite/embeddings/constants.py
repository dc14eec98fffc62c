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
# A text this short is embedded by at most two threads. Measured on two cores, 12 tokens: 1 thread 5.5 ms, 2
# threads 3.9 ms on an idle machine, and 148 ms (p95 1.6 s) on a busy one, because llama.cpp's threads wait
# for each other spinning; so a second thread is used only while a core is idle (`cores`). `python -m bench
# recall` shows the times.
SHORT_TEXT_TOKENS: Final = 64
SHORT_TEXT_THREADS: Final = 2
# Window of a model whose catalogue entry names none: attention grows with its square, and most such models
# are BERTs.
DEFAULT_WINDOW_TOKENS: Final = 512
# Windows one text is averaged from. 16 of the compact model cover 16 KB wholly; of a longer text they are
# spread evenly, so that 1 MB takes about 2 s of one core (measured: 120 ms a window) instead of a minute.
MAX_WINDOWS: Final = 16
# Characters of one text that are looked at: 4 MB of tokens are 16 MB of memory; only a file dumped whole is
# longer.
MAX_TEXT_CHARS: Final = 4_000_000
# Rows per SQL statement: SQLite's oldest supported limit is 999 variables with 6 a row; larger gained
# nothing here.
ROWS_PER_STATEMENT: Final = 150
# Rows fetched at a time when a collection is streamed: 2,000 of 1 KB keep memory flat.
ROWS_PER_FETCH: Final = 2_000
# The OpenAI-compatible endpoint: connecting fails fast, an answer may take a while on a slow machine.
ENDPOINT_CONNECT_SECONDS: Final = 3.0
ENDPOINT_READ_SECONDS: Final = 30.0
# Texts per request. vLLM, Ollama and llama-server all take 32; larger bodies gain little and time out sooner.
ENDPOINT_BATCH: Final = 32
# Characters sent per text: about 2,000 tokens, which every served embedding model takes.
ENDPOINT_TEXT_CHARS: Final = 8_000
# Chapter 03, 3.2: a switch waits at most this long for the candidate.
MODEL_READY_SECONDS: Final = 600.0
# One switch at a time; renewed with every batch, and long enough for the candidate to load.
SWITCH_LEASE: Final = "embeddings_model_switch"
SWITCH_LEASE_SECONDS: Final = 900
# Texts embedded between two reports: about 1 s of the compact model on two cores.
SWITCH_BATCH: Final = 64

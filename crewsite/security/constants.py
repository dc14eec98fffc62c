"""Numbers the security layer is built on. Units are in the names; the source stands above each."""

from __future__ import annotations

from typing import Final

# Chapter 13.1: a home keeps this many events, and is cut back to it once it passes the second number.
EVENTS_KEPT_PER_HOME: Final = 10_000
EVENTS_CEILING_PER_HOME: Final = 10_500
# Rows other writers may have in flight, unseen, while a home is counted (PostgreSQL).
EVENTS_IN_FLIGHT_ROWS: Final = 64

# Chapter 13.2: long text is screened in windows; the overlap is longer than any match a pattern can make.
SCREEN_WINDOW_CHARS: Final = 4_096
SCREEN_OVERLAP_CHARS: Final = 256
# How far back a "never" or "don't" takes the force out of an instruction that forbids instead of demands.
NEGATION_REACH_CHARS: Final = 80
# Chapter 13.2, family 17.
BIDI_OVERRIDES_SUSPICIOUS: Final = 3

# Chapter 13.2: what an audit event may show of a refused text, and how much of it is looked at for that.
SNIPPET_CHARS: Final = 200
SNIPPET_SOURCE_CHARS: Final = 4_096

# Chapter 13.3: address parts that carry data out.
URL_DATA_RUN_CHARS: Final = 64
URL_ENCODED_CHARS: Final = 200
# A longer PEM block is prose between two unrelated lines; the longest RSA key in use is under 13,000 chars.
PEM_BLOCK_CHARS: Final = 65_536
# Shortest base64 run worth decoding: `token=` and 8 chars encode to 19, an AWS key id to 27.
ENCODED_RUN_CHARS: Final = 19
# Redacting can bring two halves together. Each round removes text, and two were enough in every case found.
REDACTION_ROUNDS: Final = 6

# Chapter 13.4: hex digits of the tag that marks a fence, and how long the name of an origin may be.
FENCE_TAG_CHARS: Final = 12
FENCE_ORIGIN_CHARS: Final = 120

"""Numbers the security layer is built on. Units are in the names; the source stands above each."""

from __future__ import annotations

from typing import Final

# Chapter 13.1: a home keeps this many events, and is cut back to it once it passes the second number.
EVENTS_KEPT_PER_HOME: Final = 10_000
EVENTS_CEILING_PER_HOME: Final = 10_500
# Writers whose rows are not visible yet when a home is counted (PostgreSQL): that many fewer writes go by unchecked.
EVENTS_IN_FLIGHT_ROWS: Final = 64

# Chapter 13.2: long text is screened in windows, so a bounded gap in a pattern is all the memory a scan needs.
SCREEN_WINDOW_CHARS: Final = 4_096
SCREEN_OVERLAP_CHARS: Final = 256
# How far back a "never" or "don't" takes the force out of an instruction that forbids instead of demands.
NEGATION_REACH_CHARS: Final = 80
# Chapter 13.2, family 17.
BIDI_OVERRIDES_SUSPICIOUS: Final = 3

# Chapter 13.2: what an audit event may show of a refused text, and how much of a text is looked at to make it.
SNIPPET_CHARS: Final = 200
SNIPPET_SOURCE_CHARS: Final = 4_096

# Chapter 13.3: address parts that carry data out.
URL_DATA_RUN_CHARS: Final = 64
URL_ENCODED_CHARS: Final = 200
# A PEM block longer than this is prose between two unrelated lines; the longest RSA key in use is under 13,000 chars.
PEM_BLOCK_CHARS: Final = 65_536
# Shortest base64 run worth decoding: the shortest credential (a 20-char AWS key id) encodes to 27 chars; `password=` + 8 to 23.
ENCODED_RUN_CHARS: Final = 20
# Redacting can bring two halves together; each round removes text, and two rounds have been enough for every case found.
REDACTION_ROUNDS: Final = 6

# Chapter 13.4: hex digits of the tag that marks a fence, and how long the name of an origin may be.
FENCE_TAG_CHARS: Final = 12
FENCE_ORIGIN_CHARS: Final = 120

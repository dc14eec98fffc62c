"""Life times of links and tokens, and the words tokens are described with."""

from __future__ import annotations

from typing import Final

# Chapter 13, 13.9: 256 bits, a quarter of an hour.
LOGIN_LINK_BYTES: Final = 32
LOGIN_LINK_MINUTES: Final = 15

# Chapter 13, 13.9: default and longest life of an API token.
TOKEN_DAYS_DEFAULT: Final = 90
TOKEN_DAYS_MAX: Final = 365
TOKEN_NAME_MAX_CHARS: Final = 100
SCOPES: Final = ("read", "write", "admin")

# `last_used_at` is for people who tidy up; a write per call would cost more than it tells.
TOKEN_USED_EVERY_SECONDS: Final = 60

# Expired tokens and used links stay in the lists this long, so that "why was I refused" has an answer.
EXPIRED_KEEP_DAYS: Final = 30

# Chapter 13, 13.10: of one address, whatever the names.
ADDRESS_FAILURES_PER_HOUR: Final = 50

OWNER_NAME: Final = "owner"

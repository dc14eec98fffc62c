"""Limits of conversations and messages."""

from __future__ import annotations

from typing import Final

TITLE_MAX_CHARS: Final = 200  # the column
TITLE_PROPOSED_CHARS: Final = 60  # what the conversation list shows on one line
TITLE_PROPOSED_WORDS: Final = 8
MESSAGE_MAX_CHARS: Final = 100_000  # spec 5.2
TITLE_LEAST_WORDS: Final = 3  # fewer are a greeting, and the next sentence is taken too

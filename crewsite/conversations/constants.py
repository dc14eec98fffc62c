"""Limits of conversations and messages."""

from __future__ import annotations

from typing import Final

TITLE_MAX_CHARS: Final = 200  # the column
MODEL_MAX_CHARS: Final = 200  # the column
TITLE_PROPOSED_CHARS: Final = 60  # what the conversation list shows on one line
TITLE_PROPOSED_WORDS: Final = 8
MESSAGE_MAX_CHARS: Final = 100_000  # spec 5.2
TITLE_LEAST_WORDS: Final = 3  # fewer are a greeting, and the next sentence is taken too

# A stretch of a transcript that another program hands over. Rendering takes about a second per 100,000
# characters, and a tool has 30 s.
TRANSCRIPT_MAX_MESSAGES: Final = 200
TRANSCRIPT_MAX_CHARS: Final = 400_000
SESSION_MAX_CHARS: Final = 100  # with the ids before it, the reference fits its column

"""Stored text on its way into a prompt: one line or many, with our markers and ids in it made harmless.
Pure.
"""

from __future__ import annotations

import re
from typing import Final

from crewsite.security.fencing import neutralise

from crewsite.security.text import clean

# A stored text must not bring its own citation: `[epi:7]` at the end of a line would pass for a source.
_FORGED_CITATION: Final = re.compile(r"\[((?:sem|epi|les|doc|hist)[a-z]*:[^\]\n]{1,120})\]", re.IGNORECASE)


def stored_text(text: str) -> str:
    return _FORGED_CITATION.sub("［\\1］", neutralise(clean(text))).strip()


def stored_line(text: str) -> str:
    """The same on one line: a stored line break cannot begin a line that looks like ours."""
    return stored_text(" ".join(clean(text).split()))

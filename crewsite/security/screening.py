"""Decides whether a text carries instructions meant for a model. What follows from a hit is the caller's."""

from __future__ import annotations

import logging
import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from crewsite.security.constants import (
    BIDI_OVERRIDES_SUSPICIOUS,
    NEGATION_REACH_CHARS,
    SCREEN_OVERLAP_CHARS,
    SCREEN_WINDOW_CHARS,
)
from crewsite.security.patterns import FAMILIES, Pattern, patterns
from crewsite.security.shadow import Shadow, folded_shadow

logger = logging.getLogger(__name__)

Span = tuple[int, int]

# "Don't hesitate to ..." and "never mind" demand; every other negation forbids.
_NEGATION: Final = re.compile(
    r"\b(?:don'?t|do\snot|never|must\snot|mustn'?t|should\snot|shouldn'?t|cannot|can'?t|won'?t|not|avoid|refuse[ds]?\sto|nobody|no\sone)\b"
    r"(?!\s(?:hesitate|worry|mind|bother|be\safraid))[^.!?\n]*\Z"
)
# Tag characters spell a hidden text, except in the flag emoji they were kept for.
_FLAG_TAGS: Final = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,12}\U000e007f")
_TAGS: Final = re.compile("[\U000e0000-\U000e007f]+")
_BIDI_OVERRIDES: Final = re.compile("[\u202d\u202e]")
_TYPOGRAPHY: Final = str.maketrans("‘’ʼ“”–—\xa0", "'''\"\"-- ")
_BLANKS: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Verdict:
    """`spans[i]` is where `families[i]` was first found, as (start, end) in the original text."""

    clean: bool
    families: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


_CLEAN: Final = Verdict(clean=True)


def screen(text: str, *, where: str = "") -> Verdict:
    """Which injection families a text shows. `where` names the door in the log and changes nothing."""
    shadow = folded_shadow(text)
    found: dict[str, Span] = {}
    for pattern in patterns():
        if pattern.family in found or not pattern.may_match(shadow.text):
            continue
        span = _first(pattern, shadow.text)
        if span:
            found[pattern.family] = shadow.span(*span)
    if not text.isascii():
        hidden = _hidden(text, shadow, found)
        if hidden:
            found["hidden_text"] = hidden
    if not found:
        return _CLEAN
    logger.info("Screen hit in %s: %s", where or "text", ", ".join(found))
    families = tuple(family for family in FAMILIES if family in found)
    return Verdict(clean=False, families=families, spans=tuple(found[family] for family in families))


def _first(pattern: Pattern, text: str) -> Span | None:
    step = SCREEN_WINDOW_CHARS - SCREEN_OVERLAP_CHARS
    for start in range(0, max(1, len(text) - SCREEN_OVERLAP_CHARS), step):
        for match in pattern.regex.finditer(text, start, start + SCREEN_WINDOW_CHARS):
            if not (pattern.guarded and _is_negated(text, *match.span())):
                return match.span()
    return None


def _is_negated(text: str, start: int, end: int) -> bool:
    return _NEGATION.search(text, max(0, start - NEGATION_REACH_CHARS), end) is not None


def _hidden(text: str, shadow: Shadow, found: dict[str, Span]) -> Span | None:
    """Tag characters, a pile of direction overrides, or a family that only undoing a disguise showed."""
    flags = [flag.span() for flag in _FLAG_TAGS.finditer(text)]
    for tags in _TAGS.finditer(text):
        if not any(start <= tags.start() and tags.end() <= end for start, end in flags):
            return tags.span()
    overrides = [match.start() for match in _BIDI_OVERRIDES.finditer(text)]
    if len(overrides) >= BIDI_OVERRIDES_SUSPICIOUS:
        return overrides[0], overrides[-1] + 1
    disguisable = [family for family in found if family not in {"translated", "forged_marker"}]
    if not disguisable:
        return None
    seen = _as_seen(text)
    for family in disguisable:
        if not any(_first(pattern, seen) for pattern in patterns() if pattern.family == family):
            return found[family]
    return None


def _as_seen(text: str) -> str:
    """The text as a reader sees it: only case, typographic quotes and blanks made plain."""
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", text).translate(_TYPOGRAPHY).lower())

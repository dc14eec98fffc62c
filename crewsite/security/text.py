"""Normal forms of text: what may be stored, and what counts as the same. Folding for scans is in `shadow`."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_BLANKS = re.compile(r"\s+")
_REMOVED = re.compile("[\x00\ud800-\udfff]")
_CONTROLS = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f]")


def clean(text: str) -> str:
    """Text every database, JSON encoder and terminal can hold: no NUL, lone surrogate or control character.

    Line ends become `\\n`; tabs stay; every other control character becomes a blank.
    """
    text = _REMOVED.sub("", text.replace("\r\n", "\n"))
    return _CONTROLS.sub(" ", text)


def number_of(count: int, noun: str, plural: str = "") -> str:
    """`1 text`, `1,204 texts`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def times(count: int) -> str:
    """`once`, `1,204 times`."""
    return "once" if count == 1 else f"{count:,} times"


def fold(text: str) -> str:
    """Decides whether two texts are the same: compatibility forms, case and blanks are made equal."""
    if not text.isascii():
        # Case folding can undo a composition and the other way round; two passes reach the stable form.
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).casefold()
        text = unicodedata.normalize("NFKC", text)
    else:
        text = text.casefold()
    return _BLANKS.sub(" ", text).strip()


def folded_hash(text: str) -> str:
    """32 hex digits naming the folded text. An identity, not a protection."""
    folded = fold(text).encode("utf-8", "surrogatepass")
    return hashlib.md5(folded, usedforsecurity=False).hexdigest()

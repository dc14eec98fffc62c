"""Model output as text and values that every database column and every socket can hold. Decides nothing
else about it."""

from __future__ import annotations

import math
from typing import Any, Final

from crewsite.security.text import clean

# What may be the first half of something: of a surrogate pair, or of a line end.
_HALVES: Final = (*(chr(code) for code in range(0xD800, 0xDC00)), "\r")


def storable_text(held: str, text: str) -> tuple[str, str]:
    """The clean text of a stream's next piece, and the character to hold back until the piece after it.

    Endpoints cut emoji and line ends in two when they stream; each half alone would be lost.
    """
    whole = held + text
    if whole.isascii() and not whole.endswith("\r"):
        return clean(whole), ""
    held = whole[-1] if whole.endswith(_HALVES) else ""
    whole = whole.removesuffix(held) if held else whole
    return clean(whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")), held


def storable_value(value: Any) -> Any:
    """The same value with clean texts and without NaN and infinities, which are no JSON."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {clean(str(name)): storable_value(item) for name, item in value.items()}
        case list() | tuple():
            return [storable_value(item) for item in value]
        case float():
            return value if math.isfinite(value) else None
        case _:
            return value

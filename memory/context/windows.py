"""How many tokens a model's window holds, from its name. Only what is sure: an unknown name answers None."""

from __future__ import annotations

import re
from typing import Final

_MILLION_SUFFIX: Final = re.compile(r"\[1m\]$", re.IGNORECASE)

# Published by their makers, checked in November 2026; a name matches itself and its dated or sized variants
# (`gpt-4o-mini`, `gpt-4o-2024-11-20`), not a successor with another number. Models people run themselves
# are missing on purpose: the server that runs one decides on its window, so theirs is a live setting
# (MODEL_WINDOWS).
KNOWN_WINDOWS: Final[dict[str, int]] = {
    "gpt-3.5-turbo": 16_385,
    "gpt-4": 8_192,
    "gpt-4-turbo": 128_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-5": 400_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4-mini": 200_000,
    "claude-3-haiku": 200_000,
    "claude-3-opus": 200_000,
    "claude-3-5-haiku": 200_000,
    "claude-3-5-sonnet": 200_000,
    "claude-3-7-sonnet": 200_000,
    "claude-haiku-4-5": 200_000,
    "claude-sonnet-4": 200_000,
    "claude-sonnet-4-5": 200_000,
    "claude-opus-4": 200_000,
    "claude-opus-4-1": 200_000,
    "claude-opus-4-5": 200_000,
    "gemini-2.0-flash": 1_048_576,
    "gemini-2.5-flash": 1_048_576,
    "gemini-2.5-pro": 1_048_576,
    "deepseek-chat": 128_000,
    "deepseek-reasoner": 128_000,
}
_VARIANT_END: Final = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|mini|nano|preview|lite)$")
MILLION: Final = 1_000_000


def resolve_model_window(model: str | None) -> int | None:
    """Tokens of a model's window, or None for what is empty, `auto` or unknown: the reference window then
    holds.
    """
    name = (model or "").strip().lower()
    if not name or name == "auto":
        return None
    configured = _configured_windows()
    bare = name.rsplit("/", 1)[-1]
    for candidate in (name, bare, bare.split(":", 1)[-1]):
        if candidate in configured:
            return configured[candidate]
        if _MILLION_SUFFIX.search(candidate):
            return MILLION
        known = _known_window(candidate)
        if known is not None:
            return known
    return None


def _known_window(name: str) -> int | None:
    """The window of this name without its date and size."""
    while name not in KNOWN_WINDOWS:
        shorter = _VARIANT_END.sub("", name)
        if shorter == name:
            return None
        name = shorter
    return KNOWN_WINDOWS[name]


def _configured_windows() -> dict[str, int]:
    from crewsite.live import live_value

    return parse_windows(str(live_value("MODEL_WINDOWS")))


def parse_windows(text: str) -> dict[str, int]:
    """`name=tokens` pairs separated by commas or lines; what is no such pair is left out."""
    windows: dict[str, int] = {}
    for entry in re.split(r"[,\n]", text):
        name, found, tokens = entry.rpartition("=")
        digits = tokens.strip().replace("_", "")
        if found and name.strip() and digits.isdecimal() and int(digits) > 0:
            windows[name.strip().lower()] = int(digits)
    return windows

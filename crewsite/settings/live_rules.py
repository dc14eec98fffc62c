"""What a live setting may be: one reading for every door that changes one. Names and defaults
are in `live`."""

from __future__ import annotations

import math
from difflib import get_close_matches
from typing import Any, Final

from crewsite.settings.live import CONSTANCE_CONFIG

# As much as the database's integer columns and a line of text hold.
MAX_NUMBER: Final = 2**31 - 1
MAX_CHARS: Final = 2_000
BOOLEANS: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


class SettingRefused(ValueError):
    """The text is no value of that setting; the message says what one is."""


def setting_type(name: str) -> type:
    kind: type = CONSTANCE_CONFIG[name][2]
    return kind


def setting_read(name: str, text: str) -> Any:
    """The value a person typed. Raises SettingRefused."""
    kind = setting_type(name)
    if kind is bool:
        value = BOOLEANS.get(text.strip().lower())
        if value is None:
            raise SettingRefused(f"{name} is on or off.")
        return value
    if kind in {int, float}:
        return _number(name, kind, text)
    if len(text) > MAX_CHARS:
        raise SettingRefused(f"{name} takes at most {MAX_CHARS} characters.")
    return text


def names_like(name: str) -> list[str]:
    """Settings a misspelt name may mean, the nearest first."""
    return get_close_matches(name.upper(), CONSTANCE_CONFIG, n=3, cutoff=0.5)


def _number(name: str, kind: type[int] | type[float], text: str) -> float:
    what = "a whole number" if kind is int else "a number"
    try:
        value = kind(text.strip())
    except ValueError as error:
        raise SettingRefused(f"{name} is {what}.") from error
    if not math.isfinite(value) or not 0 <= value <= MAX_NUMBER:
        raise SettingRefused(f"{name} is {what} from 0 to {MAX_NUMBER}.")
    return value

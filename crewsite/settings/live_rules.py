"""What a live setting may be: the bounds for every door, and how what a person typed is read for admin and
`crew config`. The API reads JSON within the same bounds; roles of models have a service of their own
(`llm.connections.roles_save`). Names and defaults are in `live`."""

from __future__ import annotations

import math
import re
from difflib import get_close_matches
from typing import Any, Final

from django.utils.module_loading import import_string

from crewsite.security.redaction import redact
from crewsite.settings.live import CONSTANCE_CONFIG, LEAST_ONE, LISTS_READ_BY, MODELS_FOUND_BY

# As much as the database's integer columns and a line of text hold.
MAX_NUMBER: Final = 2**31 - 1
MAX_CHARS: Final = 2_000
MODEL_ROLES: Final = ("default", "smol", "judge")
BOOLEANS: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


class SettingRefused(ValueError):
    """The text is no value of that setting; the message says what one is."""


def setting_least(name: str) -> int:
    return 1 if name in LEAST_ONE else 0


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
    _check_text(name, text)
    return text


def names_like(name: str) -> list[str]:
    """Settings a misspelt name may mean, the nearest first."""
    return get_close_matches(name.upper(), CONSTANCE_CONFIG, n=3, cutoff=0.5)


def _number(name: str, kind: type[int] | type[float], text: str) -> float:
    what = "a whole number" if kind is int else "a number"
    least = setting_least(name)
    try:
        value = kind(text.strip())
    except ValueError as error:
        raise SettingRefused(f"{name} is {what}.") from error
    if not math.isfinite(value) or not least <= value <= MAX_NUMBER:
        raise SettingRefused(f"{name} is {what} from {least} to {MAX_NUMBER}.")
    return value


def _check_text(name: str, text: str) -> None:
    """Whoever reads it takes a wrong value for none, so that it stops nothing; here it is told."""
    if len(text) > MAX_CHARS:
        raise SettingRefused(f"{name} takes at most {MAX_CHARS} characters.")
    if name in LISTS_READ_BY:
        reader = import_string(LISTS_READ_BY[name])
        wrong = next((part for part in re.split(r"[,\n]", text) if part.strip() and not reader(part)), None)
        if wrong is not None:
            shown = redact(wrong.strip()).text
            raise SettingRefused(f"{name}: {shown!r} cannot be read. {CONSTANCE_CONFIG[name][1]}")
    elif name.endswith("_MODEL") and text.strip() not in {"", *MODEL_ROLES}:
        if import_string(MODELS_FOUND_BY)(text) is None:
            raise SettingRefused(f"{name}: there is no model {redact(text.strip()).text!r} here.")
    elif name.endswith("_URL") and text.strip() and not text.strip().startswith(("https://", "http://")):
        raise SettingRefused(f"{name} is an https address.")

"""Live settings of memory. A change applies at once in the process that makes it, elsewhere in a second."""

from __future__ import annotations

import math
import time
from typing import Any, Final

from constance import config
from constance.signals import config_updated

from memory.rules import parse_prefixes

# A write would otherwise spend a tenth of its time on reading settings that change a few times a year.
KEPT_SECONDS: Final = 1.0
_kept: dict[str, tuple[float, Any]] = {}


def live_value(name: str) -> Any:
    """Any live setting, for code that asks often."""
    read_at, value = _kept.get(name, (float("-inf"), None))
    if time.monotonic() - read_at >= KEPT_SECONDS:
        value = getattr(config, name)
        _kept[name] = (time.monotonic(), value)
    return value


def forget(**_: Any) -> None:
    _kept.clear()


config_updated.connect(forget, dispatch_uid="memory.live.forget")


def extra_key_prefixes() -> tuple[str, ...]:
    return parse_prefixes(live_value("SEMANTIC_EXTRA_PREFIXES"))


def episodic_max_rows() -> int:
    return max(1, int(live_value("EPISODIC_MAX_ROWS")))


def history_max_days() -> int:
    return max(1, int(live_value("HISTORY_MAX_DAYS")))


def decay_by_tag() -> dict[str, float]:
    """`incident=0.01, standup=0.1` as rates per day. Entries that cannot be read are left out."""
    rates: dict[str, float] = {}
    for part in live_value("EPISODIC_DECAY_BY_TAG").split(","):
        tag, _, text = part.partition("=")
        try:
            rate = float(text)
        except ValueError:
            continue
        # An endless rate makes a row of this moment worth no number at all.
        if math.isfinite(rate):
            rates[tag.strip()] = max(0.0, rate)
    return rates

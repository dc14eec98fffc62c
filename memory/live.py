"""Live settings of memory, as its rules read them."""

from __future__ import annotations

import math

from crewsite.live import live_value
from memory.rules import parse_prefixes


def extra_key_prefixes() -> tuple[str, ...]:
    return parse_prefixes(live_value("SEMANTIC_EXTRA_PREFIXES"))


def episodic_max_rows() -> int:
    return max(1, int(live_value("EPISODIC_MAX_ROWS")))


def history_max_days() -> int:
    return max(1, int(live_value("HISTORY_MAX_DAYS")))


def decay_by_tag() -> dict[str, float]:
    return parse_rates(live_value("EPISODIC_DECAY_BY_TAG"))


def parse_rates(text: str) -> dict[str, float]:
    """`incident=0.01, standup=0.1` as rates per day. Entries that cannot be read are left out."""
    rates: dict[str, float] = {}
    for part in text.split(","):
        tag, _, number = part.partition("=")
        try:
            rate = float(number)
        except ValueError:
            continue
        # An endless rate makes a row of this moment worth no number at all.
        if tag.strip() and math.isfinite(rate):
            rates[tag.strip()] = max(0.0, rate)
    return rates

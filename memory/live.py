"""Live settings of memory, read at each use so that a change in admin applies at once."""

from __future__ import annotations

from constance import config

from memory.rules import parse_prefixes


def extra_key_prefixes() -> tuple[str, ...]:
    return parse_prefixes(config.SEMANTIC_EXTRA_PREFIXES)


def episodic_max_rows() -> int:
    return max(1, int(config.EPISODIC_MAX_ROWS))


def history_max_days() -> int:
    return max(1, int(config.HISTORY_MAX_DAYS))


def decay_by_tag() -> dict[str, float]:
    """`incident=0.01, standup=0.1` as rates per day. Entries that cannot be read are left out."""
    rates: dict[str, float] = {}
    for part in config.EPISODIC_DECAY_BY_TAG.split(","):
        tag, _, rate = part.partition("=")
        try:
            rates[tag.strip()] = max(0.0, float(rate))
        except ValueError:
            continue
    return rates

"""Live settings for code that asks often. A change applies at once in the process that makes it, elsewhere
in a second."""

from __future__ import annotations

import time
from typing import Any, Final

from constance import config
from constance.signals import config_updated

# Every reading of one is a query; a write or a turn would spend a tenth of its time on what changes a few
# times a year.
KEPT_SECONDS: Final = 1.0
_kept: dict[str, tuple[float, Any]] = {}


def live_value(name: str) -> Any:
    read_at, value = _kept.get(name, (float("-inf"), None))
    if time.monotonic() - read_at >= KEPT_SECONDS:
        value = getattr(config, name)
        _kept[name] = (time.monotonic(), value)
    return value


def forget(**_: Any) -> None:
    _kept.clear()


config_updated.connect(forget, dispatch_uid="crewsite.live.forget")

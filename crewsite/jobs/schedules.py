from __future__ import annotations

SCHEDULES: list[dict[str, object]] = []

"""Time zones of workspaces, by the names this machine knows."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone_find(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: a folder of zones, such as "America"
        return None


def zone_named(name: str) -> ZoneInfo:
    """UTC where the name is not known."""
    return zone_find(name) or ZoneInfo("UTC")

"""Scheduled tasks of accounts."""

from __future__ import annotations

from crewsite.accounts import services


def accounts_prune() -> dict[str, int]:
    return services.accounts_prune()

"""Scheduled tasks of the API."""

from __future__ import annotations

from crewsite.api.idempotency import answers_prune as _prune


def answers_prune() -> int:
    return _prune()

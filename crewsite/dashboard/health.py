"""The health report as pages show it. What is measured, and how, belongs to the API's health module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from crewsite.dashboard.remedies import Remedy, remedies


@dataclass(frozen=True, slots=True)
class SiteHealth:
    report: dict[str, Any]
    problems: list[Remedy]
    worker_seen: datetime | None
    at: datetime

    @property
    def is_well(self) -> bool:
        return not self.problems


def site_health() -> SiteHealth:
    from crewsite.api.health import readiness
    from crewsite.jobs.selectors import worker_seen

    report = readiness()
    return SiteHealth(
        report=dict(report),
        problems=remedies(list(report["degraded"])),
        worker_seen=worker_seen(),
        at=timezone.now(),
    )

"""The health report as pages show it. What is measured, and how, belongs to the API's health module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from crewsite.api.health import readiness
from crewsite.dashboard.remedies import Remedy, remedies
from crewsite.jobs.selectors import worker_seen


@dataclass(frozen=True, slots=True)
class SiteHealth:
    report: dict[str, Any]
    problems: list[Remedy]
    worker_seen: datetime | None
    at: datetime

    @property
    def index_facts(self) -> list[tuple[str, Any]]:
        """The plain values of the index report, under readable names; nested ones are for machines."""
        skipped = ("state", "degraded")
        return [
            (name.replace("_", " ").capitalize(), value)
            for name, value in self.report["index"].items()
            if name not in skipped and isinstance(value, int | str) and value != ""
        ]

    @property
    def is_well(self) -> bool:
        return not self.problems


def site_health() -> SiteHealth:
    report = readiness()
    return SiteHealth(
        report=dict(report),
        problems=remedies(list(report["degraded"])),
        worker_seen=worker_seen(),
        at=timezone.now(),
    )

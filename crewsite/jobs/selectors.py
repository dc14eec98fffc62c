"""What the job tables say about the background processes."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from crewsite.jobs.constants import SCHEDULE_GONE_SECONDS, WORKER_GONE_SECONDS
from crewsite.jobs.models import Heartbeat, Job


def heartbeat_at(name: str) -> datetime | None:
    return Heartbeat.objects.filter(name=name).values_list("at", flat=True).first()


def worker_seen() -> datetime | None:
    """When a worker process last said that it lives."""
    return heartbeat_at("worker")


def worker_is_alive(*, now: datetime | None = None) -> bool:
    return _recent(worker_seen(), WORKER_GONE_SECONDS, now)


def schedule_is_alive(*, now: datetime | None = None) -> bool:
    """Whether the minute heartbeat task is being run: false while every worker is busy for long, too."""
    return _recent(heartbeat_at("schedule"), SCHEDULE_GONE_SECONDS, now)


def jobs_running() -> int:
    return Job.objects.filter(state=Job.State.RUNNING).count()


def _recent(at: datetime | None, seconds: int, now: datetime | None) -> bool:
    return at is not None and at > (now or timezone.now()) - timedelta(seconds=seconds)

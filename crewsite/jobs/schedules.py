"""What a schedule is, and the schedules of this app. `sync_schedules` installs those of every app."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScheduleSpec:
    """A recurring task: `func` is a dotted path, run every `minutes` or by `cron`, read in site time."""

    name: str
    func: str
    minutes: int | None = None
    cron: str = ""

    def __post_init__(self) -> None:
        if (self.minutes is None) == (not self.cron):
            raise ValueError(f"Schedule {self.name!r} needs either minutes or cron.")


SCHEDULES: list[ScheduleSpec] = [
    ScheduleSpec(name="heartbeat", func="crewsite.jobs.tasks.heartbeat", minutes=1),
    ScheduleSpec(name="jobs prune", func="crewsite.jobs.tasks.jobs_prune", cron="30 3 * * *"),
]

"""When kept answers are dropped: with the other prunes, at 03:30 site time."""

from __future__ import annotations

from crewsite.jobs.schedules import ScheduleSpec

SCHEDULES: list[ScheduleSpec] = [
    ScheduleSpec(name="api answers prune", func="crewsite.api.tasks.answers_prune", cron="30 3 * * *"),
]

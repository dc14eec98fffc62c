"""When memory's background work runs: the daily prune at 03:30 site time (chapter 04, 4.4)."""

from __future__ import annotations

from crewsite.jobs.schedules import ScheduleSpec

SCHEDULES: list[ScheduleSpec] = [
    ScheduleSpec(name="memory prune", func="memory.tasks.prune", cron="30 3 * * *"),
]

"""The schedules of this app."""

from __future__ import annotations

from crewsite.jobs.schedules import ScheduleSpec

SCHEDULES: list[ScheduleSpec] = [
    ScheduleSpec(name="accounts prune", func="crewsite.accounts.tasks.accounts_prune", cron="30 3 * * *"),
]

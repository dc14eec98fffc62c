"""When the ledger of calls is pruned: at 03:30 site time with the other prunes (chapter 04, 4.4)."""

from __future__ import annotations

from crewsite.jobs.schedules import ScheduleSpec

SCHEDULES: list[ScheduleSpec] = [
    ScheduleSpec(name="mcp calls prune", func="crewsite.mcp.tasks.calls_prune", cron="30 3 * * *"),
]

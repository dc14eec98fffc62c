"""What the search index does again and again."""

from __future__ import annotations

from crewsite.jobs.schedules import ScheduleSpec
from crewsite.search.backfill import TASK
from crewsite.search.tasks import INDEX_WRITE_TASK, RECONCILE_TASK

SCHEDULES: list[ScheduleSpec] = [
    # Chapter 03, 3.3: hourly, besides when the embedder gets ready and after imports.
    ScheduleSpec(name="embeddings backfill", func=TASK, minutes=60),
    # Chapter 03, 3.5: every 15 minutes if stale.
    ScheduleSpec(name="search reconcile", func=RECONCILE_TASK, minutes=15),
    ScheduleSpec(name="index write", func=INDEX_WRITE_TASK, minutes=5),
]

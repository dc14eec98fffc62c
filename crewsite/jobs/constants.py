"""Times of jobs, leases and heartbeats."""

from __future__ import annotations

from typing import Final

# A job whose worker showed no life for this long is given up. A step between two progress reports, such as
# one slow batch or one model call with its retries, stays well under it.
JOB_LEASE_SECONDS: Final = 600

# A queued job that no worker began within a day lost its place in the queue.
JOB_QUEUED_HOURS: Final = 24

# Finished jobs are kept for a month, like the usage ledger (chapter 04, 4.4).
JOB_KEEP_DAYS: Final = 30

# A worker process says every half minute that it lives; a page calls it gone after three missed beats.
WORKER_BEAT_SECONDS: Final = 30
WORKER_GONE_SECONDS: Final = 90

# The heartbeat runs every minute (chapter 04, 4.4); the queue may hold it back behind other tasks.
SCHEDULE_GONE_SECONDS: Final = 300

# `sync_schedules` owns the schedules whose name starts like this and leaves all others alone.
SCHEDULE_PREFIX: Final = "crew: "

# As wide as the column; a longer reason keeps its beginning.
MESSAGE_MAX_CHARS: Final = 300
ERROR_MAX_CHARS: Final = 8_000

"""Times of jobs, leases and heartbeats."""

from __future__ import annotations

from typing import Final

# `job_run` says every half minute that its process lives, whatever its step is doing. A job silent for six
# beats has lost its process: a killed worker is noticed within three to four minutes.
JOB_BEAT_SECONDS: Final = 30
JOB_LEASE_SECONDS: Final = 180

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

# The exclusive lease under which nobody else writes (chapter 04, 4.4; chapter 12, 12.4: 30 minutes, and 30 s
# for jobs and turns that run). Every process looks once a second.
MAINTENANCE: Final = "maintenance"
MAINTENANCE_SECONDS: Final = 1_800
MAINTENANCE_GRACE_SECONDS: Final = 30
MAINTENANCE_POLL_SECONDS: Final = 0.2
MAINTENANCE_RETRY_AFTER_SECONDS: Final = 60
STORE_LOOK_SECONDS: Final = 1.0
# What a client is told to wait when the database takes no row: a lock is gone by then, a full disk perhaps.
STORE_RETRY_AFTER_SECONDS: Final = 5

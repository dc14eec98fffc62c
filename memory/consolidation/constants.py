"""Numbers of consolidation, each with where it comes from."""

from __future__ import annotations

from typing import Final

from crewsite.jobs.constants import JOB_BEAT_SECONDS, JOB_LEASE_SECONDS

# Chapter 04, 4.3; seed 004, "Consolidation".
PREFERENCES_EVERY_MESSAGES: Final = 30
FACTS_MAX: Final = 20
EPISODES_MAX: Final = 10
# One consolidation appends one or more entries (chapter 02, 2.2). Three matters of one talk are rare.
ENTRIES_MAX: Final = 3

# What the model is shown (4.3).
INPUT_MAX_CHARS: Final = 60_000
INPUT_HEAD_SHARE: Final = 0.6
MESSAGE_MAX_CHARS: Final = 4_000

# Attempts of one range whose answers stay wrong; then it waits for new messages or a person (4.3).
MAX_TRIES: Final = 3
# An endpoint that is busy or away is asked again after this long, doubling up to an hour: a conversation
# that is over loses nothing by waiting.
BACKOFF_FIRST_SECONDS: Final = 60
BACKOFF_MAX_SECONDS: Final = 3_600

# A pass renews its lease while the model thinks, as often as a job does, and loses it after the same silence.
LEASE_SECONDS: Final = JOB_LEASE_SECONDS
RENEW_SECONDS: Final = JOB_BEAT_SECONDS

# Conversations one tick of the heartbeat queues: two workers need longer than a minute for more.
QUEUED_PER_TICK: Final = 20
# The heartbeat looks for preferences passes that failed, or whose turn ended in a dying process, among
# conversations this young; older ones meet the check again with their next turn.
PREFERENCES_LOOK_BACK_DAYS: Final = 7
REASON_MAX_CHARS: Final = 500
# Where a conversation has no model, requests of this many are read in one tick; it is plain text matching.
REQUESTS_PER_TICK: Final = 50

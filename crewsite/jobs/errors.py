"""What this app refuses, in its own words. Doors translate it."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from crewsite.jobs.constants import STORE_RETRY_AFTER_SECONDS


class JobsError(Exception):
    """Base of this app's refusals."""


class MaintenanceInProgress(JobsError):
    """A write came while somebody holds the maintenance lease. Reads go on."""

    def __init__(self, *, code: str, note: str, until: datetime) -> None:
        super().__init__(f"The site is under maintenance: {note} Reading works; try the change again later.")
        self.code = code
        self.until = until

    def retry_after_seconds(self, *, at_most: int) -> int:
        """How long a client should wait; the end is an estimate, so it may ask again before it."""
        left = int((self.until - timezone.now()).total_seconds())
        return max(1, min(left, at_most))


class StoreUnavailable(JobsError):
    """The database takes no row just now: a full disk, a write-protected home, another program's lock."""

    def __init__(self, text: str, *, code: str) -> None:
        super().__init__(text)
        self.code = code

    def retry_after_seconds(self, *, at_most: int) -> int:
        return min(STORE_RETRY_AFTER_SECONDS, at_most)


class MaintenanceRefused(JobsError):
    """Maintenance cannot begin: somebody else holds the lease, or work is still running."""

"""Fifty failed logins from one address in an hour close it for names of any spelling (chapter 13, 13.10). The
limit of one name from one address is django-axes' own.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from axes.backends import AxesStandaloneBackend
from axes.exceptions import AxesBackendPermissionDenied
from axes.models import AccessFailureLog
from django.utils import timezone

from crewsite.accounts.constants import ADDRESS_FAILURES_PER_HOUR

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpRequest


def address_is_locked(address: str, *, now: datetime | None = None) -> bool:
    """Counted in the database, so that all processes agree."""
    since = (now or timezone.now()) - timedelta(hours=1)
    failed = AccessFailureLog.objects.filter(ip_address=address, attempt_time__gte=since)
    return bool(failed[:ADDRESS_FAILURES_PER_HOUR].count() >= ADDRESS_FAILURES_PER_HOUR)


class LoginLimitBackend(AxesStandaloneBackend):
    """Stands first among the back ends: stops a login before a password is looked at. Logs nobody in."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().authenticate(request, username, password, **kwargs)
        if address_is_locked(getattr(request, "axes_ip_address", "") or ""):
            request.axes_locked_out = True  # type: ignore[union-attr]  # the base has refused a missing request
            raise AxesBackendPermissionDenied("Too many failed logins from this address.")

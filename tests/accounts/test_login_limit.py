"""Fifty failed logins from one address in an hour close it, whatever the names."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from axes.models import AccessFailureLog
from django.test import Client
from django.utils import timezone

from crewsite.accounts.login_limit import address_is_locked
from crewsite.accounts.services import accounts_prune

if TYPE_CHECKING:
    from crewsite.accounts.models import User

pytestmark = pytest.mark.django_db
RIGHT = "correct horse battery"


def login(name: str, password: str, address: str = "10.0.0.1") -> Any:
    return Client(REMOTE_ADDR=address).post("/login/", {"username": name, "password": password})


def failures(count: int, address: str = "10.0.0.1", **ago: float) -> None:
    AccessFailureLog.objects.bulk_create(
        AccessFailureLog(username=f"name{number}", ip_address=address) for number in range(count)
    )
    if ago:
        AccessFailureLog.objects.update(attempt_time=timezone.now() - timedelta(**ago))


def test_after_fifty_failures_of_any_names_the_right_password_is_refused_too(alice: User) -> None:
    failures(49)
    assert login("somebody", "wrong").status_code == 200
    locked = login("alice", RIGHT)
    assert locked.status_code == 429
    assert login("nobody-at-all", "wrong").content == locked.content


def test_other_addresses_and_later_hours_are_open(alice: User) -> None:
    failures(60)
    assert login("alice", RIGHT, address="10.0.0.2").status_code == 302
    assert address_is_locked("10.0.0.1")
    assert not address_is_locked("10.0.0.1", now=timezone.now() + timedelta(minutes=61))


def test_old_failures_are_pruned(db: None) -> None:
    failures(2, days=31)
    failures(1)
    AccessFailureLog.objects.filter(pk=AccessFailureLog.objects.latest("pk").pk).update(
        attempt_time=timezone.now()
    )
    assert accounts_prune()["failures"] == 2

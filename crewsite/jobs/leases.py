"""Exclusive, expiring claims on a name that all processes and hosts of one database agree on.

Every step is one conditional statement, so two takers can never both succeed, and an owner text that is new
for every acquisition fences off whoever lost the lease in between. Hosts must agree on the time.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.db import connection
from django.utils import timezone

from crewsite.jobs.models import Lease


@cache
def _process_owner(pid: int) -> str:
    return f"{socket.gethostname()[:40]}:{pid}:{secrets.token_hex(4)}"


def process_owner() -> str:
    """Host, process and a random part: names this process, also after a fork."""
    return _process_owner(os.getpid())


def lease_acquire(
    name: str,
    *,
    owner: str | None = None,
    seconds: float,
    code: str = "",
    note: str = "",
    now: datetime | None = None,
) -> Lease | None:
    """Take the lease if nobody holds it or its holder let it expire; None if somebody else has it.

    Without an `owner` each acquisition gets its own: two threads of one process exclude each other too.
    """
    now = now or timezone.now()
    owner = owner or f"{process_owner()}:{secrets.token_hex(4)}"
    fields: dict[str, Any] = {
        "owner": owner,
        "acquired_at": now,
        "expires_at": now + timedelta(seconds=seconds),
        "code": code,
        "note": note,
    }
    if not Lease.objects.filter(name=name, expires_at__lte=now).update(**fields):
        if Lease.objects.filter(name=name).exists():
            return None
        Lease.objects.bulk_create([Lease(name=name, **fields)], ignore_conflicts=True)
    return Lease.objects.filter(name=name, owner=owner, acquired_at=now).first()


def lease_renew(lease: Lease, *, seconds: float, now: datetime | None = None) -> bool:
    """Extend a lease still owned; False once somebody else took it, or it expired and was cleared away."""
    expires_at = (now or timezone.now()) + timedelta(seconds=seconds)
    if Lease.objects.filter(name=lease.name, owner=lease.owner).update(expires_at=expires_at):
        lease.expires_at = expires_at
        return True
    return False


def lease_release(lease: Lease) -> bool:
    """Give the lease back; False if it was no longer ours."""
    return bool(Lease.objects.filter(name=lease.name, owner=lease.owner).delete()[0])


def leases_reap(*, now: datetime | None = None) -> int:
    """Clear away expired leases. They could be taken anyway; this keeps the list readable."""
    return Lease.objects.filter(expires_at__lte=now or timezone.now()).delete()[0]


@contextmanager
def leased(name: str, seconds: float) -> Iterator[Lease | None]:
    """`with leased("index:3", 60) as held:` gives the lease, or None if somebody else has it.

    Take it outside a transaction: inside one, others see it only at the commit.
    """
    lease = lease_acquire(name, seconds=seconds)
    try:
        yield lease
    finally:
        if lease is not None and not connection.needs_rollback:
            lease_release(lease)

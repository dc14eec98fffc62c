"""Leases: one holder at a time, across threads, and none for ever."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from crewsite.jobs.leases import lease_acquire, lease_release, lease_renew, leased, leases_reap
from crewsite.jobs.models import Lease

pytestmark = pytest.mark.django_db


def test_a_held_lease_is_refused_to_everyone_else() -> None:
    assert lease_acquire("index", seconds=60)
    assert lease_acquire("index", seconds=60) is None
    assert lease_acquire("another", seconds=60)


def test_a_released_lease_can_be_taken_at_once() -> None:
    first = lease_acquire("index", seconds=60)
    assert first
    assert lease_release(first)
    assert lease_acquire("index", seconds=60)


def test_an_expired_lease_can_be_taken_and_its_old_holder_can_neither_renew_nor_release_it() -> None:
    now = timezone.now()
    old = lease_acquire("index", seconds=60, now=now)
    assert old
    new = lease_acquire("index", seconds=60, now=now + timedelta(seconds=61))
    assert new
    assert not lease_renew(old, seconds=60)
    assert not lease_release(old)
    assert Lease.objects.get(name="index").owner == new.owner


def test_a_renewed_lease_outlives_its_first_term() -> None:
    now = timezone.now()
    held = lease_acquire("index", seconds=60, now=now)
    assert held
    assert lease_renew(held, seconds=60, now=now + timedelta(seconds=50))
    assert lease_acquire("index", seconds=60, now=now + timedelta(seconds=100)) is None
    assert lease_acquire("index", seconds=60, now=now + timedelta(seconds=111))


def test_the_same_named_owner_cannot_take_its_lease_twice() -> None:
    assert lease_acquire("index", owner="host:1", seconds=60)
    assert lease_acquire("index", owner="host:1", seconds=60) is None


def test_the_block_form_gives_the_lease_back_even_when_the_block_raises() -> None:
    with pytest.raises(ZeroDivisionError), leased("index", 60) as held:
        assert held
        with leased("index", 60) as second:
            assert not second
        _ = 1 / 0
    assert not Lease.objects.exists()


def test_reaping_removes_expired_leases_only() -> None:
    now = timezone.now()
    lease_acquire("old", seconds=1, now=now - timedelta(seconds=5))
    lease_acquire("held", seconds=60, now=now)
    assert leases_reap(now=now) == 1
    assert list(Lease.objects.values_list("name", flat=True)) == ["held"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("expired", [False, True], ids=["free", "expired"])
def test_of_many_threads_exactly_one_gets_the_lease(expired: bool) -> None:
    if expired:
        lease_acquire("index", seconds=1, now=timezone.now() - timedelta(seconds=60))
    start, won = threading.Barrier(8), []

    def take() -> None:
        try:
            start.wait()
            lease = lease_acquire("index", seconds=60)
            if lease:
                won.append(lease.owner)
        finally:
            connection.close()

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert Lease.objects.get(name="index").owner == won[0]


@pytest.mark.django_db(transaction=True)
def test_work_under_a_lease_never_overlaps() -> None:
    inside, overlaps, done = [0], [0], [0]

    def work() -> None:
        try:
            for _ in range(10):
                with leased("work", 60) as held:
                    if held:
                        inside[0] += 1
                        overlaps[0] += inside[0] > 1
                        done[0] += 1
                        inside[0] -= 1
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps[0] == 0
    assert done[0] > 0

"""The heartbeat, queued jobs, the queue itself and the worker's sign of life."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone
from django_q.models import OrmQ

from crewsite.jobs import selectors, worker_start
from crewsite.jobs.models import Heartbeat, Job, Lease
from crewsite.jobs.queue import enqueue
from crewsite.jobs.services import heartbeat_put, job_queue, job_start
from crewsite.jobs.tasks import heartbeat, job_execute
from tests.jobs import sample_tasks

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    sample_tasks.CALLS.clear()


def test_a_heartbeat_clears_what_dead_workers_left() -> None:
    past = timezone.now() - timedelta(minutes=1)
    Lease.objects.create(name="index", owner="gone", expires_at=past)
    job = job_start(kind="backfill")
    Job.objects.update(lease_expires_at=past)
    assert heartbeat() == {"leases": 1, "jobs": 1}
    job.refresh_from_db()
    assert job.state == "failed"
    assert selectors.schedule_is_alive()


def test_doubled_heartbeats_change_nothing_more() -> None:
    heartbeat()
    assert heartbeat() == {"leases": 0, "jobs": 0}
    assert Heartbeat.objects.count() == 1


def test_a_failing_heartbeat_task_does_not_keep_the_next_from_running(settings: Any) -> None:
    settings.CREW_HEARTBEAT_TASKS = ["tests.jobs.sample_tasks.fail", "tests.jobs.sample_tasks.note"]
    heartbeat()
    assert sample_tasks.CALLS == [()]


def test_a_queued_job_runs_its_task_and_is_done() -> None:
    job = job_queue(kind="note", task="tests.jobs.sample_tasks.note", args=["a", 2])
    job_execute(job.pk)
    job_execute(job.pk)
    job.refresh_from_db()
    assert sample_tasks.CALLS == [("a", 2)]
    assert job.state == "done"


def test_a_queued_job_whose_task_raises_is_failed_with_the_reason() -> None:
    job = job_queue(kind="note", task="tests.jobs.sample_tasks.fail")
    with pytest.raises(ValueError, match="fails"):
        job_execute(job.pk)
    job.refresh_from_db()
    assert job.error == "ValueError: this task fails"


@pytest.mark.django_db(transaction=True)
def test_a_task_is_queued_on_commit_and_not_after_a_rollback() -> None:
    with transaction.atomic():
        enqueue("tests.jobs.sample_tasks.note", 1)
        assert OrmQ.objects.count() == 0
    assert OrmQ.objects.count() == 1
    assert OrmQ.objects.get().task["func"] == "tests.jobs.sample_tasks.note"
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        enqueue("tests.jobs.sample_tasks.note", 2)
        _ = 1 / 0
    assert OrmQ.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_unreachable_queue_does_not_undo_the_write_that_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise DatabaseError("queue is away")

    monkeypatch.setattr("django_q.tasks.async_task", broken)
    with transaction.atomic():
        heartbeat_put(name="worker")
        enqueue("tests.jobs.sample_tasks.note")
    assert Heartbeat.objects.filter(name="worker").exists()


def test_a_worker_is_alive_until_it_misses_three_beats() -> None:
    now = timezone.now()
    assert selectors.worker_seen() is None
    assert not selectors.worker_is_alive(now=now)
    heartbeat_put(name="worker", now=now)
    assert selectors.worker_is_alive(now=now + timedelta(seconds=80))
    assert not selectors.worker_is_alive(now=now + timedelta(seconds=91))


@pytest.mark.django_db(transaction=True)
def test_the_beat_thread_says_that_the_worker_lives() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=worker_start.beat, args=(stop, 0.01))
    thread.start()
    deadline = threading.Event()
    for _ in range(200):
        if selectors.worker_seen():
            break
        deadline.wait(0.02)
    stop.set()
    thread.join()
    assert selectors.worker_is_alive()


def test_a_failing_start_function_keeps_neither_the_others_nor_the_worker(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CREW_WORKER_START = ["tests.jobs.sample_tasks.fail", "tests.jobs.sample_tasks.note"]
    monkeypatch.setattr(worker_start, "beat", lambda: None)
    worker_start.start()
    assert sample_tasks.CALLS == [()]


def test_a_task_run_in_place_starts_no_worker_thread(settings: Any) -> None:
    settings.CREW_WORKER_START = ["tests.jobs.sample_tasks.note"]
    worker_start.on_spawn()
    assert sample_tasks.CALLS == []


def test_a_task_that_had_to_skip_says_so_on_its_job() -> None:
    job = job_queue(kind="skip", task="tests.jobs.sample_tasks.skip")
    job_execute(job.pk)
    job.refresh_from_db()
    assert (job.state, job.message) == ("done", "Skipped: it is running already.")

"""Job rows: what a run leaves behind however it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from crewsite.jobs import services
from crewsite.jobs.beats import beating
from crewsite.jobs.leases import lease_acquire, lease_renew
from crewsite.jobs.models import Heartbeat, Job, Lease
from crewsite.jobs.services import (
    JobStopped,
    job_cancel,
    job_fail,
    job_finish,
    job_progress,
    job_queue,
    job_resumed,
    job_retry,
    job_run,
    job_start,
    jobs_forget,
    jobs_give_up,
)

pytestmark = pytest.mark.django_db


def test_a_started_job_runs_and_names_its_owner() -> None:
    job = job_start(kind="backfill", total=3, detail={"step": "one"})
    job.refresh_from_db()
    assert (job.state, job.done, job.total, job.detail) == ("running", 0, 3, {"step": "one"})
    assert job.lease_owner
    assert job.started_at
    assert job.lease_expires_at


def test_progress_is_kept_and_extends_the_claim() -> None:
    job = job_start(kind="backfill", total=3)
    Job.objects.update(lease_expires_at=timezone.now())
    job_progress(job, done=2, message="x" * 400)
    job.refresh_from_db()
    assert job.done == 2
    assert len(job.message) == 300
    assert job.lease_expires_at > timezone.now() + timedelta(minutes=2)


def test_a_run_that_ends_is_done_to_its_total() -> None:
    with job_run("backfill", total=5) as job:
        job_progress(job, done=4)
    job.refresh_from_db()
    assert (job.state, job.done, job.error) == ("done", 5, "")
    assert job.finished_at


def test_a_run_that_raises_is_failed_with_the_reason() -> None:
    with pytest.raises(ValueError, match="no such file"), job_run("install"):
        raise ValueError("no such file")
    job = Job.objects.get()
    assert (job.state, job.error) == ("failed", "ValueError: no such file")


def test_a_cancelled_run_stops_at_its_next_report_and_stays_cancelled() -> None:
    steps = []
    with job_run("backfill") as job:
        steps.append(1)
        assert job_cancel(Job.objects.get())
        job_progress(job, done=1)
        steps.append(2)
    job.refresh_from_db()
    assert steps == [1]
    assert job.state == "cancelled"


def test_a_run_that_was_given_up_cannot_write_over_the_verdict() -> None:
    job = job_start(kind="backfill")
    assert jobs_give_up(now=timezone.now() + timedelta(hours=1)) == 1
    with pytest.raises(JobStopped):
        job_progress(job, done=1)
    assert not job_finish(job)
    assert not job_fail(job, error="late")
    job.refresh_from_db()
    assert job.state == "failed"
    assert "no sign of life" in job.error


def test_a_job_of_another_process_is_not_ours_to_report_on() -> None:
    job = job_start(kind="backfill")
    Job.objects.update(lease_owner="host:2:abc")
    with pytest.raises(JobStopped):
        job_progress(job, done=1)


def test_only_dead_and_forgotten_jobs_are_given_up() -> None:
    now = timezone.now()
    alive = job_start(kind="alive")
    waiting = Job.objects.create(kind="waiting")
    lost = Job.objects.create(kind="lost", created_at=now - timedelta(hours=25))
    dead = job_start(kind="dead")
    Job.objects.filter(pk=dead.pk).update(lease_expires_at=now - timedelta(seconds=1))
    assert jobs_give_up(now=now) == 2
    states = {job.kind: job.state for job in Job.objects.all()}
    assert states == {"alive": "running", "waiting": "queued", "lost": "failed", "dead": "failed"}
    assert {alive.kind, waiting.kind} == {"alive", "waiting"}
    assert all(Job.objects.filter(pk__in=[lost.pk, dead.pk]).values_list("error", flat=True))


def test_an_ended_job_cannot_be_cancelled() -> None:
    job = job_start(kind="backfill")
    job_finish(job)
    assert not job_cancel(job)
    job.refresh_from_db()
    assert job.state == "done"


def test_a_queued_job_is_begun_once_and_never_after_a_cancel() -> None:
    job = job_queue(kind="install", task="tests.jobs.sample_tasks.note", args=["a"])
    with job_resumed(job.pk) as first, job_resumed(job.pk) as second:
        assert first
        assert second is None
    job.refresh_from_db()
    assert job.state == "done"
    other = job_queue(kind="install", task="tests.jobs.sample_tasks.note")
    job_cancel(other)
    with job_resumed(other.pk) as begun:
        assert begun is None


def test_the_task_of_a_queued_job_reports_on_that_row() -> None:
    job = job_queue(kind="install", task="tests.jobs.sample_tasks.note")
    with job_resumed(job.pk), job_run("install") as inner:
        job_progress(inner, done=7)
    assert Job.objects.get().done == 7
    assert inner.pk == job.pk


def test_a_failed_job_is_retried_as_a_new_row_with_the_same_arguments() -> None:
    with pytest.raises(ValueError, match="broken"), job_run("install", task="a.b", args=[1, "x"]):
        raise ValueError("broken")
    failed = Job.objects.get()
    again = job_retry(failed)
    assert again
    assert (again.state, again.task, again.args, again.retry_of) == ("queued", "a.b", [1, "x"], failed)


@pytest.mark.parametrize("state", ["running", "done", "queued"])
def test_a_job_that_did_not_fail_is_not_retried(state: str) -> None:
    assert job_retry(Job.objects.create(kind="x", task="a.b", state=state)) is None


def test_a_job_without_a_task_cannot_be_retried() -> None:
    assert job_retry(Job.objects.create(kind="x", state="failed")) is None


def test_jobs_that_ended_a_month_ago_are_forgotten() -> None:
    now = timezone.now()
    Job.objects.create(kind="old", state="done", finished_at=now - timedelta(days=31))
    Job.objects.create(kind="new", state="done", finished_at=now - timedelta(days=29))
    Job.objects.create(kind="open")
    assert jobs_forget(now=now) == 1
    assert set(Job.objects.values_list("kind", flat=True)) == {"new", "open"}


def test_a_heartbeat_is_one_row_that_moves() -> None:
    services.heartbeat_put(name="worker")
    first = Heartbeat.objects.get().at
    services.heartbeat_put(name="worker", detail={"pid": 3})
    assert Heartbeat.objects.get().at >= first
    assert Heartbeat.objects.get().detail == {"pid": 3}


def test_a_thread_does_not_inherit_the_queued_job_of_another() -> None:
    job = job_queue(kind="install", task="tests.jobs.sample_tasks.note")
    seen: list[object] = []
    with job_resumed(job.pk):
        thread = threading.Thread(target=lambda: seen.append(services._executing.get()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_a_retry_keeps_the_workspace_and_happens_once_however_often_it_is_asked_for() -> None:
    failed = Job.objects.create(kind="x", task="a.b", state="failed", workspace_id=7)
    again = job_retry(failed)
    assert again
    assert again.workspace_id == 7
    assert job_retry(failed) is None
    assert job_retry(Job.objects.get(pk=failed.pk)) is None
    assert Job.objects.count() == 2
    assert Job.objects.with_retry().get(pk=failed.pk).retried_as == again.pk


def test_a_stale_copy_of_a_row_does_not_hide_that_the_job_failed() -> None:
    job = job_start(kind="x", task="a.b")
    copy = Job.objects.get(pk=job.pk)
    job_fail(job, error="broken")
    assert job_retry(copy)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_of_many_who_retry_at_once_one_does(state: str) -> None:
    failed = Job.objects.create(kind="x", task="tests.jobs.sample_tasks.note", state=state)
    assert sum(at_once(6, lambda: job_retry(Job.objects.get(pk=failed.pk)) is not None)) == 1
    assert Job.objects.filter(retry_of=failed).count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_a_cancel_and_an_end_at_the_same_moment_one_counts() -> None:
    for _ in range(10):
        job = job_start(kind="x")
        copy = Job.objects.get(pk=job.pk)
        won = at_once(2, *[lambda job=job: job_finish(job), lambda copy=copy: job_cancel(copy)])
        assert sorted(won) == [False, True]
        job.refresh_from_db()
        assert job.state == ("done" if won[0] else "cancelled")


@pytest.mark.django_db(transaction=True)
def test_a_queued_job_is_begun_by_one_of_many_workers() -> None:
    job = job_queue(kind="x", task="tests.jobs.sample_tasks.note")

    def begin() -> bool:
        with job_resumed(job.pk) as begun:
            return begun is not None

    assert sum(at_once(6, begin)) == 1


def test_a_dead_job_takes_its_leases_along_and_leaves_those_of_others() -> None:
    job = job_start(kind="x")
    mine, other = (
        lease_acquire("mine", seconds=600),
        lease_acquire("other", owner="host:1:ab:cd", seconds=600),
    )
    assert mine
    assert other
    jobs_give_up(now=timezone.now() + timedelta(minutes=5))
    assert list(Lease.objects.values_list("name", flat=True)) == ["other"]
    assert not lease_renew(mine, seconds=60)
    job.refresh_from_db()
    assert job.lease_owner in job.error


def test_a_beat_that_comes_in_time_keeps_a_job_alive() -> None:
    job = job_start(kind="x")
    seen = Job.objects.get(pk=job.pk)
    Job.objects.update(lease_expires_at=timezone.now() + timedelta(minutes=10))
    assert not services._give_up(seen, timezone.now() + timedelta(minutes=5))


@pytest.mark.django_db(transaction=True)
def test_a_slow_step_shows_life_without_a_report() -> None:
    job = job_start(kind="x")
    Job.objects.update(lease_expires_at=timezone.now())
    with beating(job, every=0.01):
        pause = threading.Event()
        for _ in range(200):
            job.refresh_from_db()
            if job.lease_expires_at > timezone.now() + timedelta(minutes=2):
                break
            pause.wait(0.02)
    assert job.lease_expires_at > timezone.now() + timedelta(minutes=2)


def test_an_error_keeps_no_credential() -> None:
    job = job_start(kind="x")
    job_fail(job, error="401 for key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH")
    job.refresh_from_db()
    assert "abcdefghijklmnop" not in job.error
    assert job.error.startswith("401")


def test_a_queued_job_learns_its_total_from_its_task() -> None:
    job = job_queue(kind="x", task="tests.jobs.sample_tasks.note")
    with job_resumed(job.pk), job_run("x", total=9):
        job.refresh_from_db()
        assert job.total == 9


def at_once(count: int, *calls: Callable[[], bool]) -> list[bool]:
    """What each call answers when all start together; one call is made by so many threads."""
    each = calls * count if len(calls) == 1 else calls
    start, answers = threading.Barrier(len(each)), [False] * len(each)

    def ask(at: int) -> None:
        try:
            start.wait()
            answers[at] = each[at]()
        finally:
            connection.close()

    threads = [threading.Thread(target=ask, args=(at,)) for at in range(len(each))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers

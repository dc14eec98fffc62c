"""Rules of the queue: one way in, tasks by constants, schedules in site time, nothing that could double."""

from __future__ import annotations

import ast
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.core.checks import run_checks
from django.utils import timezone
from django_q.models import Schedule

from crewsite.jobs.installation import schedule_specs

PACKAGES = ("crewsite", "memory", "lessons")
SOURCES = [
    path
    for name in PACKAGES
    for path in (Path(settings.BASE_DIR) / name).rglob("*.py")
    if "migrations" not in path.parts
]
QUEUE = Path("crewsite/jobs/queue.py")


def ids() -> set[str]:
    return {found.id or "" for found in run_checks()}


def test_only_one_module_queues_tasks() -> None:
    users = {path.relative_to(settings.BASE_DIR) for path in SOURCES if "async_task" in path.read_text()}
    assert users == {QUEUE}


def test_a_task_is_queued_by_a_constant_not_by_a_text_in_place() -> None:
    literal = [
        f"{path}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == "enqueue"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ]
    assert literal == []


@pytest.mark.parametrize("retry", [1800, 900, None])
def test_a_retry_that_is_not_longer_than_the_timeout_is_an_error(settings: Any, retry: int | None) -> None:
    assert "crewsite.E006" not in ids()
    settings.Q_CLUSTER = {**settings.Q_CLUSTER, "retry": retry}
    assert "crewsite.E006" in ids()


def test_a_second_queue_of_the_site_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "crewsite.E007" not in ids()
    monkeypatch.setattr("django_q.conf.Conf.CLUSTER_NAME", "another")
    assert "crewsite.E007" in ids()


def test_the_schedules_of_chapter_04_exist() -> None:
    rhythms = {(spec.func, spec.minutes, spec.cron) for spec in schedule_specs()}
    assert rhythms >= {
        ("crewsite.jobs.tasks.heartbeat", 1, ""),
        ("crewsite.search.tasks.search_reconcile", 15, ""),
        ("crewsite.search.tasks.embeddings_backfill", 60, ""),
        ("memory.tasks.prune", None, "30 3 * * *"),
        ("crewsite.accounts.tasks.accounts_prune", None, "30 3 * * *"),
        ("crewsite.jobs.tasks.jobs_prune", None, "30 3 * * *"),
    }


@pytest.mark.parametrize(
    ("now", "expected_utc"),
    [
        # Berlin: an hour from UTC, two in summer; the clocks change on 28 March and 31 October 2027.
        (datetime(2027, 3, 27, 12, tzinfo=UTC), datetime(2027, 3, 28, 1, 30, tzinfo=UTC)),
        (datetime(2027, 3, 27, 1, tzinfo=UTC), datetime(2027, 3, 27, 2, 30, tzinfo=UTC)),
        (datetime(2027, 3, 28, 1, 31, tzinfo=UTC), datetime(2027, 3, 29, 1, 30, tzinfo=UTC)),
        (datetime(2027, 10, 30, 12, tzinfo=UTC), datetime(2027, 10, 31, 2, 30, tzinfo=UTC)),
        (datetime(2027, 10, 31, 2, 31, tzinfo=UTC), datetime(2027, 11, 1, 2, 30, tzinfo=UTC)),
    ],
)
def test_the_nightly_prune_is_at_half_past_three_on_the_clock_of_the_site(
    monkeypatch: pytest.MonkeyPatch, now: datetime, expected_utc: datetime
) -> None:
    monkeypatch.setattr("django_q.conf.Conf.TIME_ZONE", "Europe/Berlin")
    monkeypatch.setattr(timezone, "now", lambda: now)
    row = Schedule(name="prune", func="a.b", schedule_type=Schedule.CRON, cron="30 3 * * *")
    due = row.calculate_next_run()
    assert due.astimezone(UTC) == expected_utc
    assert due.astimezone(ZoneInfo("Europe/Berlin")).hour == 3


@pytest.mark.django_db
def test_a_late_nightly_prune_runs_once_and_then_at_its_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    from django_q.models import OrmQ
    from django_q.scheduler import scheduler

    # The connection is the test's own.
    monkeypatch.setattr("django_q.scheduler.close_old_django_connections", lambda: None)
    Schedule.objects.create(
        name="crew: prune",
        func="tests.jobs.sample_tasks.note",
        schedule_type=Schedule.CRON,
        cron="30 3 * * *",
    )
    Schedule.objects.update(next_run=datetime(2026, 1, 1, tzinfo=UTC))
    scheduler()
    scheduler()
    assert OrmQ.objects.count() == 1
    assert Schedule.objects.get().next_run > timezone.now()

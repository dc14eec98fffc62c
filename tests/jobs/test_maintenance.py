"""Maintenance: reads go on, every write is refused at every door, caches go when the store was replaced."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone
from django.utils.module_loading import import_string
from rest_framework.test import APIClient

from crewsite.accounts.models import ApiToken, User, Workspace
from crewsite.accounts.services import token_create
from crewsite.jobs import maintenance as taking
from crewsite.jobs import store
from crewsite.jobs.broker import Broker
from crewsite.jobs.errors import MaintenanceInProgress, MaintenanceRefused
from crewsite.jobs.leases import lease_acquire
from crewsite.jobs.maintenance import maintenance, maintenance_begin, maintenance_end
from crewsite.jobs.models import Job, Lease, StoreState
from crewsite.jobs.services import job_cancel, job_progress, job_queue, job_retry, job_run
from crewsite.jobs.tasks import heartbeat, job_execute
from tests.jobs import sample_tasks

if TYPE_CHECKING:
    from django.contrib.sessions.backends.base import SessionBase

# A refusal breaks the transaction it comes in, so these tests have none around them.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _quick(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No second of patience, and nothing seen by one test that another made."""
    monkeypatch.setattr(taking, "STORE_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(taking, "MAINTENANCE_GRACE_SECONDS", 0.0)
    store.look_again()
    sample_tasks.CALLS.clear()
    yield
    Lease.objects.all().delete()  # the end of a transactional test empties tables, which is a write
    store.look_again()


def by_another_process(**fields: Any) -> None:
    """The lease as another process takes it: this one has to notice by itself."""
    assert lease_acquire(
        "maintenance", seconds=60, note="A restore runs.", code="restore_in_progress", **fields
    )
    store.look_again()


def test_a_write_is_refused_and_a_read_goes_on(home: Workspace) -> None:
    by_another_process()
    assert Workspace.objects.get().name == home.name
    with pytest.raises(MaintenanceInProgress, match=r"A restore runs\. Reading works"):
        Workspace.objects.update(name="new")
    with pytest.raises(MaintenanceInProgress), transaction.atomic():
        Workspace.objects.create(name="x", slug="x")
    with pytest.raises(MaintenanceInProgress), transaction.atomic():
        home.delete()
    assert Workspace.objects.get().name == home.name


@pytest.mark.parametrize(
    "sql",
    [
        "insert into accounts_workspace (name) values ('x')",
        "  REPLACE INTO accounts_workspace (name) VALUES ('x')",
        'UPDATE "accounts_workspace" SET name = name',
        "DELETE FROM accounts_workspace",
        "DROP TABLE accounts_workspace",
        "INSERT OR IGNORE INTO search_keyword (rowid) VALUES (1)",
        "WITH x AS (SELECT 1) INSERT INTO accounts_workspace (name) SELECT 'x'",
    ],
)
def test_plain_sql_is_no_way_around_it(home: Workspace, sql: str) -> None:
    by_another_process()
    with pytest.raises(MaintenanceInProgress), connection.cursor() as cursor:
        cursor.execute(sql)


def test_the_holder_writes_and_nobody_else(home: Workspace) -> None:
    refused: list[type[BaseException]] = []

    def other_thread() -> None:
        found = store._seen.maintenance
        assert found
        try:
            store._refuse_write(found, "UPDATE accounts_workspace SET name = 'x'")
        except MaintenanceInProgress as error:
            refused.append(type(error))

    with maintenance(note="A restore runs."):
        Workspace.objects.update(name="restored")
        thread = threading.Thread(target=other_thread)
        thread.start()
        thread.join()
    assert refused == [MaintenanceInProgress]
    assert Workspace.objects.get().name == "restored"
    Workspace.objects.update(name="after")


def test_an_expired_lease_keeps_nobody_out(home: Workspace) -> None:
    lease_acquire("maintenance", seconds=1, now=timezone.now() - timedelta(seconds=5))
    store.look_again()
    Workspace.objects.update(name="new")
    assert store.maintenance_now() is None


def test_two_cannot_hold_it(home: Workspace) -> None:
    by_another_process()
    with pytest.raises(MaintenanceRefused, match="already"):
        maintenance_begin(note="Mine.")


def test_it_does_not_begin_while_a_job_runs_unless_forced() -> None:
    Job.objects.create(kind="x", state="running")
    with pytest.raises(MaintenanceRefused, match="1 jobs"):
        maintenance_begin(note="A restore runs.")
    assert not Lease.objects.exists()
    assert maintenance_end(maintenance_begin(note="A restore runs.", force=True))


def test_a_running_job_comes_to_its_end_in_its_time_and_is_stopped_after_it(home: Workspace) -> None:
    with job_run("slow") as job:
        by_another_process()
        Workspace.objects.update(name="in time")
        job_progress(job, done=1)
        Lease.objects.update(acquired_at=timezone.now() - timedelta(seconds=31))
        store.look_again()
        with pytest.raises(MaintenanceInProgress):
            Workspace.objects.update(name="too late")
    job.refresh_from_db()
    assert job.state == "done"


def test_a_job_can_be_cancelled_and_none_can_be_started() -> None:
    failed = Job.objects.create(kind="x", state="failed", task="a.b")
    queued = Job.objects.create(kind="x")
    by_another_process()
    assert job_cancel(queued)
    with pytest.raises(MaintenanceInProgress):
        job_retry(failed)
    with pytest.raises(MaintenanceInProgress), job_run("y"):
        pass
    assert heartbeat()["jobs"] == 0


def test_workers_claim_nothing_until_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django_q.conf.Conf.POLL", 0)
    job = job_queue(kind="note", task="tests.jobs.sample_tasks.note", args=[1])
    by_another_process()
    assert Broker("crewsite").dequeue() is None
    job_execute(job.pk)  # handed out in the moment before
    job.refresh_from_db()
    assert (job.state, sample_tasks.CALLS) == ("queued", [])
    Lease.objects.all().delete()
    store.look_again()
    handed_out = 0
    while Broker("crewsite").dequeue():
        handed_out += 1
    assert handed_out == 2  # the claim that was put back stands behind the first
    job_execute(job.pk)
    job_execute(job.pk)
    assert sample_tasks.CALLS == [(1,)]


def test_the_api_answers_503_as_a_problem_and_still_reads(alice: User) -> None:
    _, text = token_create(user=alice, name="t")
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    by_another_process()
    answer = client.post("/api/v1/lessons/", {"rule": "Always use pytest"}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (503, "restore_in_progress")
    assert answer["Content-Type"].startswith("application/problem+json")
    assert 1 <= int(answer["Retry-After"]) <= 60
    assert client.get("/api/v1/lessons/").status_code == 200
    assert ApiToken.objects.get().last_used_at is None


def test_pages_say_so_and_a_form_gets_a_503_page(alice: User) -> None:
    client = Client()
    client.force_login(alice)
    by_another_process()
    page = client.get("/")
    assert page.status_code == 200
    assert "A restore runs." in page.content.decode()
    answer = client.post("/chat/new/", {})
    assert answer.status_code == 503
    assert "Under maintenance" in answer.content.decode()
    assert answer["Retry-After"]
    assert client.post("/logout/").status_code == 302
    session: SessionBase = client.session
    assert not session.get("_auth_user_id")


def test_the_command_begins_tells_and_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("maintenance", "begin", "--note", "A copy is made.", "--minutes", "5")
    call_command("maintenance", "status")
    assert "A copy is made." in capsys.readouterr().out
    with pytest.raises(CommandError, match="already"):
        call_command("maintenance", "begin")
    call_command("maintenance", "end", "--json")
    assert capsys.readouterr().out.strip() == '{"maintenance": false}'
    call_command("maintenance", "status", "--json")
    assert '{"maintenance": false}' in capsys.readouterr().out
    with pytest.raises(CommandError, match="not under"):
        call_command("maintenance", "end")


def test_watching_costs_the_caller_no_query(home: Workspace, django_assert_num_queries: Any) -> None:
    store.look_again()
    with django_assert_num_queries(1):
        Workspace.objects.count()


def test_another_generation_drops_the_caches_of_this_process(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped = threading.Event()
    monkeypatch.setattr(sample_tasks, "note", lambda *_: dropped.set())
    settings.CREW_CACHES = ["tests.jobs.sample_tasks.fail", "tests.jobs.sample_tasks.note"]
    StoreState.objects.update_or_create(pk=1, defaults={"generation": 4})
    store.look_again()
    Job.objects.count()
    dropped.wait(5)  # whatever generation the last test left behind
    dropped.clear()
    StoreState.objects.update_or_create(pk=1, defaults={"generation": 5})
    store.look_again()
    Job.objects.count()
    assert dropped.wait(5)
    dropped.clear()
    store.look_again()
    Job.objects.count()
    assert not dropped.wait(0.1)


@contextmanager
def unreadable(table: str) -> Iterator[None]:
    """As while a restore replaces the table: the process looks at it meanwhile, and again after."""
    connection.ensure_connection()
    connection.connection.execute(f"ALTER TABLE {table} RENAME TO elsewhere")
    try:
        store._look(connection)
        yield
    finally:
        connection.connection.execute(f"ALTER TABLE elsewhere RENAME TO {table}")
        store.look_again()


def test_a_generation_that_came_while_none_could_be_read_drops_the_caches(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped = threading.Event()
    StoreState.objects.update_or_create(pk=1, defaults={"generation": 4})
    store.look_again()
    Job.objects.count()
    monkeypatch.setattr(sample_tasks, "note", lambda *_: dropped.set())
    settings.CREW_CACHES = ["tests.jobs.sample_tasks.note"]
    StoreState.objects.update(generation=5)
    with unreadable("jobs_storestate"):
        pass
    Job.objects.count()
    assert dropped.wait(5)


def test_maintenance_holds_while_its_lease_cannot_be_read(home: Workspace) -> None:
    by_another_process()
    Job.objects.count()
    with unreadable("jobs_lease"), pytest.raises(MaintenanceInProgress):
        Workspace.objects.update(name="new")


def test_a_look_leaves_nothing_open_in_the_transaction_it_falls_into(home: Workspace) -> None:
    with pytest.raises(DatabaseError, match="store_look"), transaction.atomic():
        store.look_again()
        Workspace.objects.count()
        with connection.cursor() as cursor:
            cursor.execute("ROLLBACK TO SAVEPOINT store_look")


def test_a_generation_is_never_seen_twice_even_after_an_old_copy_came_back() -> None:
    first = store.generation_bump()
    StoreState.objects.update(generation=3)
    assert store.generation_bump() >= first
    assert store.generation_bump() > first


def test_every_cache_and_every_count_of_work_names_a_function(settings: Any) -> None:
    for path in settings.CREW_CACHES:
        import_string(path)()
    assert taking.work_running() == 0


def test_a_restore_that_takes_longer_than_its_lease_keeps_writers_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(taking, "MAINTENANCE_SECONDS", 0.06)
    with maintenance(note="A restore runs."):
        over, pause = timezone.now(), threading.Event()
        Lease.objects.update(expires_at=over)
        for _ in range(100):
            if Lease.objects.get().expires_at > over:
                break
            pause.wait(0.01)
        assert Lease.objects.get().expires_at > over

"""The database and what its rows say: migrations, worker, schedules, leases, jobs, the search index. Only
reads."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from crewsite.doctor.findings import Finding, fail, ok, warn
from crewsite.security.text import number_of

# The worker clears expired leases every minute; those of this age say that nobody does.
STALE_LEASE_MINUTES: Final = 10
# The database's own patience is for writers; who examines wants to hear of a lock.
BUSY_MS: Final = 1_000
NO_DATABASE: Final = (
    "Check DATABASE_URL, free disk space and permissions; restore a copy if the file is damaged."
)


def database() -> Iterator[Finding]:
    """The rest needs rows, so it is asked only of a database that answers and knows its tables."""
    try:
        yield from _database()
    except DatabaseError as error:
        yield fail("database", f"does not answer: {str(error).strip()}", NO_DATABASE)
    finally:
        connection.close()


def _database() -> Iterator[Finding]:
    if connection.vendor == "sqlite":
        file = Path(str(settings.DATABASES["default"]["NAME"]))
        if not file.is_file():
            yield fail("database", f"{file} is not there", "Make it with: crew setup")
            return
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        cursor.execute("SELECT 1")
    yield ok("database", f"{connection.vendor} answers")
    pending = _pending()
    if pending:
        yield fail("migrations", f"{len(pending)} pending, first {pending[0]}", "Apply them with: crew setup")
        return
    yield ok("migrations", "all applied")
    yield from _worker()
    yield from _schedules()
    yield from _leases()
    yield from _jobs()
    yield from _index()


def _pending() -> list[str]:
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [str(migration) for migration, _ in plan]


def _worker() -> Iterator[Finding]:
    from crewsite.doctor.machine import site_answers
    from crewsite.jobs import selectors

    seen = selectors.worker_seen()
    if not selectors.worker_is_alive():
        since = f"last seen {seen:%Y-%m-%d %H:%M} UTC" if seen else "never seen"
        told, remedy = f"none runs ({since})", "Start web and worker together: crew run"
        yield fail("worker", told, remedy) if site_answers() else warn("worker", told, remedy)
    elif not selectors.schedule_is_alive():
        told = "alive, but the minute schedule has not run for five minutes"
        yield warn(
            "worker", told, "Is it busy with long jobs? See Jobs on the dashboard, or raise CREW_WORKERS."
        )
    else:
        yield ok("worker", "alive")


def _schedules() -> Iterator[Finding]:
    from django_q.models import Schedule

    from crewsite.jobs.constants import SCHEDULE_PREFIX
    from crewsite.jobs.installation import schedule_specs

    wanted = {SCHEDULE_PREFIX + spec.name for spec in schedule_specs()}
    missing = sorted(wanted - set(Schedule.objects.values_list("name", flat=True)))
    if missing:
        yield fail("schedules", f"{len(missing)} missing, first {missing[0]!r}", "crew sync-schedules")
    else:
        yield ok("schedules", f"{len(wanted)} installed")


def _leases() -> Iterator[Finding]:
    from crewsite.jobs.models import Lease
    from crewsite.jobs.store import maintenance_now

    if maintenance_now() is not None:
        yield warn("leases", "the site is under maintenance: nothing can be written", "crew maintenance end")
    old = timezone.now() - timedelta(minutes=STALE_LEASE_MINUTES)
    stale = list(Lease.objects.filter(expires_at__lt=old).values_list("name", flat=True))
    if stale:
        told = f"{len(stale)} are left from processes that died, such as {stale[0]!r}"
        yield warn("leases", told, "The worker clears them: crew run")
    else:
        yield ok("leases", "none is stale")


def _jobs() -> Iterator[Finding]:
    from crewsite.jobs.models import Job

    lost = Job.objects.filter(state=Job.State.RUNNING, lease_expires_at__lt=timezone.now())
    dead = [f"{job.kind} #{job.pk}" for job in lost[:3]]
    if dead:
        told = f"the process of {', '.join(dead)} has died"
        yield warn("jobs", told, "The worker notices within minutes (crew run); then retry under Jobs.")
    else:
        yield ok("jobs", f"{Job.objects.active().count()} waiting or running")


def _index() -> Iterator[Finding]:
    from crewsite.search.service import search_status

    status = search_status()
    told = f"{number_of(status['documents'], 'text')}, {status['lag']} without a vector"
    if "keyword_index_behind" in status["degraded"]:
        yield fail("index", f"{told}; the keyword index is out of step with them", "crew embeddings rebuild")
    elif status["lag"]:
        yield warn("index", told, "The worker catches up; at once: crew embeddings backfill")
    else:
        yield ok("index", told)
    if "faiss_unavailable" in status["degraded"]:
        told = "not installed: vectors are compared one by one"
        yield warn("faiss", told, "pip install --force-reinstall faiss-cpu")

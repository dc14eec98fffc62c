"""The worker as a process: it refuses an unsafe site, works, stops when told, and leaves nobody behind."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 30

pytestmark = [pytest.mark.sqlite_only, pytest.mark.slow]


def manage(home: Path, *args: str, **environment: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    settings = {
        "CREW_HOME": str(home),
        "CREW_SKIP_MODEL_DOWNLOAD": "1",
        "DJANGO_SETTINGS_MODULE": "crewsite.settings",
    }
    return subprocess.Popen(
        [sys.executable, "manage.py", *args],
        cwd=ROOT,
        env={**kept, **settings, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def until(ready: Callable[[], object]) -> bool:
    pause, deadline = threading.Event(), time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if ready():
            return True
        pause.wait(0.1)
    return False


def beats(home: Path) -> int:
    with sqlite3.connect(home / "crewsite.sqlite3") as database:
        return int(
            database.execute("SELECT count(*) FROM jobs_heartbeat WHERE name = 'worker'").fetchone()[0]
        )


def rows(home: Path, sql: str, *parameters: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(home / "crewsite.sqlite3", timeout=20)) as database, database:
        return database.execute(sql, parameters).fetchall()


def shell(home: Path, code: str) -> str:
    """What code in a process of the site prints."""
    process = manage(home, "shell", "--no-imports", "-v0", "-c", code, CREW_LOG_LEVEL="ERROR")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    return out.strip()


def descendants(pid: int) -> set[int]:
    found = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
    pairs = [tuple(map(int, line.split())) for line in found.stdout.splitlines()]
    tree, grown = {pid}, True
    while grown:
        more = {child for child, parent in pairs if parent in tree} - tree
        tree |= more
        grown = bool(more)
    return tree - {pid}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    folder.chmod(0o700)
    migrating = manage(folder, "migrate", "-v0")
    out, _ = migrating.communicate(timeout=120)
    assert migrating.returncode == 0, out
    return folder


@contextmanager
def running(home: Path) -> Iterator[subprocess.Popen[str]]:
    rows(home, "DELETE FROM jobs_heartbeat")
    process = manage(home, "qcluster", CREW_WORKERS="1")
    try:
        assert until(lambda: beats(home)), "no worker said that it lives"
        yield process
    finally:
        for pid in [process.pid, *descendants(process.pid)]:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        if process.stdout:
            process.stdout.close()


@pytest.fixture
def worker(home: Path) -> Iterator[subprocess.Popen[str]]:
    with running(home) as process:
        yield process


def test_an_unsafe_site_is_refused_with_every_finding_and_status_78(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    process = manage(
        tmp_path,
        "qcluster",
        CREW_ENV="production",
        CREW_SECRET_KEY="short",
        CREW_DEBUG="1",
        CREW_PUBLIC_URL="http://crew.example",
        CREW_ALLOWED_HOSTS="*",
    )
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 78
    for finding in ("E001", "E002", "E003", "E004", "E005"):
        assert f"crewsite.{finding}" in out
    assert "openssl rand" in out


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="process groups are tied on Linux only")
def test_a_worker_stops_in_order_when_its_whole_group_is_told_to(worker: subprocess.Popen[str]) -> None:
    children = descendants(worker.pid)
    assert len(children) >= 4  # sentinel, worker, monitor, pusher
    os.killpg(worker.pid, signal.SIGTERM)
    worker.wait(timeout=PATIENCE_S)
    assert until(lambda: not any(alive(pid) for pid in children))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="process groups are tied on Linux only")
def test_a_killed_worker_leaves_no_process_behind(worker: subprocess.Popen[str]) -> None:
    children = descendants(worker.pid)
    os.kill(worker.pid, signal.SIGKILL)
    assert until(lambda: not any(alive(pid) for pid in children))


QUEUE_STEPS = (
    "from crewsite.jobs.services import job_queue; "
    "print(job_queue(kind='steps', task='tests.jobs.sample_tasks.steps', args=[{steps}, {pause}]).pk)"
)


def state(home: Path, job: int) -> tuple[object, ...]:
    return rows(home, "SELECT state, done, total, error FROM jobs_job WHERE id = ?", job)[0]


def test_the_worker_installs_the_schedules_and_removes_retired_ones(home: Path) -> None:
    rows(
        home,
        "INSERT INTO django_q_schedule (name, func, schedule_type, repeats, next_run) "
        "VALUES ('crew: retired', 'a.b', 'O', -1, '2099-01-01')",
    )
    with running(home):
        names = {name for (name,) in rows(home, "SELECT name FROM django_q_schedule")}
    assert "crew: heartbeat" in names
    assert "crew: retired" not in names


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_job_whose_worker_is_killed_fails_with_the_reason_and_its_retry_runs_to_the_end(
    home: Path, worker: subprocess.Popen[str]
) -> None:
    job = int(shell(home, QUEUE_STEPS.format(steps=40, pause=0.1)))
    assert until(lambda: int(str(state(home, job)[1])) >= 3), state(home, job)
    owner = str(rows(home, "SELECT lease_owner FROM jobs_job WHERE id = ?", job)[0][0])
    os.kill(int(owner.split(":")[1]), signal.SIGKILL)
    done = state(home, job)[1]
    # Three minutes later, without waiting for them.
    rows(home, "UPDATE jobs_job SET lease_expires_at = '2020-01-01 00:00:00' WHERE id = ?", job)
    given_up = shell(home, "from crewsite.jobs.tasks import heartbeat; print(heartbeat()['jobs'])")
    assert given_up.endswith("1")
    found, stopped_at, total, error = state(home, job)
    assert (found, stopped_at, total) == ("failed", done, 40)
    assert owner in str(error)
    again = int(
        shell(
            home,
            "from crewsite.jobs.models import Job; from crewsite.jobs.services import job_retry; "
            f"Job.objects.filter(pk={job}).update(args=[5, 0.01]); "
            f"print(job_retry(Job.objects.get(pk={job})).pk)",
        )
    )
    # The cluster has put another process in the place of the killed one.
    assert until(lambda: state(home, again)[0] == "done"), state(home, again)
    assert state(home, again)[1:] == (5, 5, "")
    assert state(home, job)[0] == "failed"


def test_a_cancelled_job_stops_at_its_next_step_in_another_process(
    home: Path, worker: subprocess.Popen[str]
) -> None:
    job = int(shell(home, QUEUE_STEPS.format(steps=600, pause=0.05)))
    assert until(lambda: int(str(state(home, job)[1])) >= 2), state(home, job)
    shell(
        home,
        "from crewsite.jobs.models import Job; from crewsite.jobs.services import job_cancel; "
        f"assert job_cancel(Job.objects.get(pk={job}))",
    )
    reached = int(str(state(home, job)[1]))
    after = int(shell(home, QUEUE_STEPS.format(steps=1, pause=0.01)))
    assert until(lambda: state(home, after)[0] == "done"), "the worker is still busy with the cancelled job"
    assert state(home, job)[:2] == ("cancelled", reached)


def test_under_maintenance_a_worker_waits_and_then_goes_on(home: Path, worker: subprocess.Popen[str]) -> None:
    command = "from django.core.management import call_command; call_command('maintenance', {})"
    shell(home, command.format("'begin', '--force'"))
    queued = "from crewsite.jobs import store\nwith store.right('holder'):\n    " + QUEUE_STEPS.format(
        steps=2, pause=0.01
    ).replace("; ", "\n    ")
    job = int(shell(home, queued))
    refused = manage(home, "learn", "add", "Always use pytest", CREW_LOG_LEVEL="ERROR")
    out, _ = refused.communicate(timeout=60)
    assert refused.returncode == 1
    assert "under maintenance" in out
    assert "Traceback" not in out
    assert state(home, job)[0] == "queued"
    shell(home, command.format("'end'"))
    assert until(lambda: state(home, job)[0] == "done"), state(home, job)

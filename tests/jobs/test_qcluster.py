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


@pytest.fixture
def worker(home: Path) -> Iterator[subprocess.Popen[str]]:
    with sqlite3.connect(home / "crewsite.sqlite3") as database:
        database.execute("DELETE FROM jobs_heartbeat")
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

"""`crew doctor`: runs where nothing else does, names what is wrong and what to do, changes nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.utils import timezone

from crewsite.doctor import machine, models, store
from crewsite.doctor.findings import Finding, examine, ok
from crewsite.jobs.installation import schedule_specs, schedules_install
from crewsite.jobs.models import Job, Lease
from crewsite.jobs.services import heartbeat_put
from tests.bare import run_bare
from tests.tiny_embedder import tiny_embedder

ROOT = Path(__file__).resolve().parents[2]


def doctor(home: Path, **environment: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Exit code and findings by name, of the command as a person starts it."""
    done = run_bare("-m", "crewsite.cli", "doctor", "--json", home=home, **environment)
    assert "Traceback" not in done.stderr
    report = json.loads(done.stdout)
    assert report["ok"] is (done.returncode == 0)
    return done.returncode, {row["name"]: row for row in report["findings"]}


def found(check: Callable[[], Iterator[Finding]], name: str) -> Finding:
    return next(finding for finding in check() if finding.name == name)


def test_a_home_that_is_not_there_is_named_and_not_made(tmp_path: Path) -> None:
    home = tmp_path / "none"
    code, rows = doctor(home)
    assert code == 1
    assert rows["home"]["state"] == rows["database"]["state"] == "fail"
    assert "crew setup" in rows["home"]["remedy"]
    assert rows["python"]["state"] == "ok"
    assert not home.exists()


def test_a_damaged_database_and_a_damaged_model_are_findings(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "crewsite.sqlite3").write_bytes(b"no database at all, " * 500)
    whole = tiny_embedder(tmp_path / "models" / "minilm-l6-v2.gguf").read_bytes()
    (tmp_path / "models" / "minilm-l6-v2.gguf").write_bytes(whole[: len(whole) // 2])
    code, rows = doctor(tmp_path)
    assert code == 1
    assert rows["database"]["state"] == rows["embedder"]["state"] == "fail"
    assert all(row["remedy"] for row in rows.values() if row["state"] != "ok")


def test_unsafe_production_and_unreadable_variables_fail(tmp_path: Path) -> None:
    code, rows = doctor(tmp_path, CREW_ENV="production", CREW_PORT="many")
    assert code == 1
    assert rows["settings"]["state"] == "fail"


def test_a_database_or_a_home_that_cannot_be_read_is_explained(tmp_path: Path) -> None:
    code, rows = doctor(tmp_path, DATABASE_URL="postgresql://crew@localhost:54x/crew")
    assert code == 1
    assert "DATABASE_URL" in rows["settings"]["told"]
    assert "postgresql://user:password@host:5432/" in rows["settings"]["remedy"]
    code, rows = doctor(tmp_path, HOME=str(tmp_path), CREW_HOME="~nobody-of-that-name/x")
    assert (code, "CREW_HOME" in rows["settings"]["told"]) == (1, True)


@pytest.mark.django_db
def test_a_well_kept_database_has_nothing_to_mend() -> None:
    schedules_install(schedule_specs())
    heartbeat_put(name="worker")
    heartbeat_put(name="schedule")
    findings = list(store._database())
    assert {finding.state for finding in findings} == {"ok"}
    assert {"migrations", "worker", "schedules", "leases", "jobs", "index"} <= {f.name for f in findings}


@pytest.mark.django_db
def test_what_dead_processes_left_is_told_with_a_way_out() -> None:
    past = timezone.now() - timedelta(hours=1)
    Lease.objects.create(name="index:1:episodic:1", owner="gone", expires_at=past)
    Job.objects.create(kind="embeddings_backfill", state=Job.State.RUNNING, lease_expires_at=past)
    assert found(store._database, "leases").told.startswith("1 are left")
    assert "embeddings_backfill" in found(store._database, "jobs").told
    assert found(store._database, "worker").remedy == "Start web and worker together: crew run"
    assert found(store._database, "schedules").state == "fail"


def test_a_home_others_can_read_is_a_warning(tmp_path: Path, settings: Any) -> None:
    settings.CREW_HOME = tmp_path
    tmp_path.chmod(0o755)
    assert found(machine.home, "home").state == "warn"
    tmp_path.chmod(0o700)
    assert found(machine.home, "home").state == "ok"


def test_a_full_disk_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "DISK_FAIL_BYTES", 10**18)
    assert next(machine.disk(tmp_path / "not" / "made")).state == "fail"


class Silent(BaseHTTPRequestHandler):
    """Answers every address with `status`."""

    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        return None


@pytest.fixture
def other_server() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Silent)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_port_another_program_holds_fails_and_a_free_one_does_not(
    other_server: HTTPServer, settings: Any
) -> None:
    settings.CREW_HOST, settings.CREW_PORT = "127.0.0.1", other_server.server_port
    assert found(machine.port, "port").state == "fail"
    other_server.shutdown()
    other_server.server_close()
    assert found(machine.port, "port").state == "ok"


@pytest.mark.django_db(transaction=True)
def test_the_language_model_answers_refuses_the_key_or_is_not_there(
    other_server: HTTPServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(models.language_model, "language model").state == "warn"
    settings.CREW_LLM_BASE_URL = f"http://127.0.0.1:{other_server.server_port}/v1"
    settings.CREW_LLM_MODEL, settings.CREW_LLM_API_KEY = "m", "k"
    assert found(models.language_model, "language model").state == "ok"
    monkeypatch.setattr(Silent, "status", 401)
    refused = found(models.language_model, "language model")
    assert (refused.state, "key" in refused.told) == ("fail", True)
    settings.CREW_LLM_BASE_URL = "http://127.0.0.1:9/v1"
    assert found(models.language_model, "language model").state == "fail"


def test_a_check_that_breaks_or_is_late_is_a_finding_and_stops_no_other() -> None:
    def breaks() -> Iterator[Finding]:
        yield ok("first", "fine")
        raise ValueError("odd")

    def late() -> Iterator[Finding]:
        time.sleep(0.2)
        yield ok("late", "fine")

    rows = examine([("first", breaks), ("late", late), ("last", machine.python)], seconds=0.05)
    assert [(row.name, row.state) for row in rows] == [
        ("first", "ok"),
        ("first", "fail"),
        ("late", "fail"),
        ("python", "ok"),
    ]

"""Starting and commanding the site, as a person types it: every failure is one line that says what to do."""

from __future__ import annotations

import json
import socket
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.bare import run_bare

ROOT = Path(__file__).resolve().parents[1]


def crew(*arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_bare("-m", "crewsite.cli", *arguments, home=home, **environment)


def test_a_taken_port_is_named_with_a_way_out(tmp_path: Path) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = crew("run", home=tmp_path, CREW_PORT=str(taken.getsockname()[1]))
    assert done.returncode != 0
    assert "CREW_PORT=8001" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_home_that_cannot_be_made_is_one_clear_line() -> None:
    done = crew("run", home=Path("/proc/nowhere"))
    assert done.returncode == 1
    assert "cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [["learn", "list"], ["status"], ["memory", "search", "tea"]])
def test_a_home_that_was_never_set_up_says_so(command: list[str], tmp_path: Path) -> None:
    done = crew(*command, home=tmp_path)
    assert done.returncode == 1
    assert "make run" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["status"], 1),
        (["learn", "list"], 1),
        (["config", "list"], 1),
        (["learn", "--help"], 0),
        (["completion", "bash"], 0),
    ],
)
def test_no_command_that_only_reads_makes_a_home(command: list[str], code: int, tmp_path: Path) -> None:
    home = tmp_path / "nowhere"
    done = crew(*command, home=home)
    assert done.returncode == code
    assert ("crew setup" in done.stderr) == bool(code)
    assert not home.exists()


def test_an_unreadable_database_address_is_not_answered_from_another_database(tmp_path: Path) -> None:
    done = crew("learn", "list", home=tmp_path, DATABASE_URL="mysql://localhost/crew")
    assert done.returncode == 1
    assert "DATABASE_URL" in done.stderr
    assert not (tmp_path / "crewsite.sqlite3").exists()


def test_an_unknown_command_is_bad_usage(tmp_path: Path) -> None:
    done = crew("bogus", home=tmp_path)
    assert done.returncode == 2
    assert "bogus" in done.stderr


@pytest.mark.parametrize(
    ("variable", "value"), [("CREW_PORT", "abc"), ("CREW_PORT", "99999"), ("CREW_ENV", "prod")]
)
def test_an_unreadable_setting_stops_the_start_and_is_named(
    variable: str, value: str, tmp_path: Path
) -> None:
    done = crew("run", home=tmp_path, **{variable: value})
    assert done.returncode == 78
    assert variable in done.stderr


def test_production_refuses_an_unsafe_start(tmp_path: Path) -> None:
    done = crew("run", home=tmp_path, CREW_ENV="production", CREW_PUBLIC_URL="http://localhost.corp.example")
    assert done.returncode == 78
    assert "crewsite.E001" in done.stderr
    assert "crewsite.E003" in done.stderr


def test_setting_up_twice_changes_nothing_and_status_is_machine_readable(tmp_path: Path) -> None:
    for _ in range(2):
        done = crew("setup", home=tmp_path, CREW_SKIP_MODEL_DOWNLOAD="1")
        assert done.returncode == 0, done.stderr
    status = json.loads(crew("status", "--json", home=tmp_path, CREW_SKIP_MODEL_DOWNLOAD="1").stdout)
    assert status["embedder"]["state"] == "absent"
    assert {"index", "database", "llm", "degraded"} <= status.keys()
    unreadable = crew("status", home=tmp_path, CREW_SKIP_MODEL_DOWNLOAD="1", CREW_PORT="abc")
    assert unreadable.returncode == 1
    assert "CREW_PORT is 'abc'" in unreadable.stdout
    assert "all well" not in unreadable.stdout
    token = crew("token", "create", "--name", "ci", home=tmp_path)
    assert token.stdout.startswith("crew_")
    assert len(token.stdout.split()) == 1

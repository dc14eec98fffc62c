"""Which Python the environment is made with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from crewsite import bootstrap

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
SYSTEM = Path(f"/usr/bin/python{VERSION}")
has_system_python = pytest.mark.skipif(not SYSTEM.exists(), reason="this distribution has another Python")


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHON", raising=False)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "CHOICE", tmp_path / "choice")
    monkeypatch.setattr(sys, "executable", bootstrap.__file__)  # any file that is no Python of the system


def makes_environments(monkeypatch: pytest.MonkeyPatch, *, yes: bool) -> None:
    done = SimpleNamespace(returncode=0 if yes else 1)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)


@pytest.mark.parametrize(
    ("home", "version", "same"),
    [
        (str(bootstrap.base_python().parent), f"{VERSION}.2", True),
        (str(bootstrap.base_python().parent), "3.99.1", False),
        ("/elsewhere/bin", f"{VERSION}.2", False),
    ],
)
def test_an_environment_of_another_python_is_told_from_one_of_this(
    tmp_path: Path, home: str, version: str, same: bool
) -> None:
    assert not bootstrap.is_of_this_python()
    (tmp_path / "pyvenv.cfg").write_text(f"home = {home}\nversion = {version}\n")
    assert bootstrap.is_of_this_python() is same


@has_system_python
def test_the_python_of_the_distribution_goes_on_if_it_makes_environments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    makes_environments(monkeypatch, yes=True)
    assert bootstrap.other_python() == SYSTEM
    makes_environments(monkeypatch, yes=False)
    assert bootstrap.other_python() is None
    monkeypatch.setattr(sys, "executable", str(SYSTEM))
    assert bootstrap.other_python() is None


@has_system_python
def test_a_chosen_python_stays_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    makes_environments(monkeypatch, yes=True)
    monkeypatch.setitem(os.environ, "PYTHON", "python3")
    assert bootstrap.other_python() is None
    monkeypatch.delitem(os.environ, "PYTHON")
    mine = tmp_path / "python"
    mine.touch()
    bootstrap.CHOICE.write_text(str(mine))
    assert bootstrap.other_python() == mine
    mine.unlink()  # gone since
    assert bootstrap.other_python() == SYSTEM

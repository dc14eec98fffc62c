"""Which Python the environment is made with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crewsite import bootstrap

SYSTEM = Path(f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}")


def test_an_environment_of_another_python_is_told_from_one_of_this(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    assert not bootstrap.is_of_this_python()
    (tmp_path / "pyvenv.cfg").write_text("home = /elsewhere/bin\nversion = 3.11.2\n")
    assert not bootstrap.is_of_this_python()
    (tmp_path / "pyvenv.cfg").write_text(f"home = {bootstrap.base_python().parent}\nversion = 3.11.2\n")
    assert bootstrap.is_of_this_python()


@pytest.mark.skipif(not SYSTEM.exists(), reason="this machine's distribution has another Python")
def test_the_python_of_the_distribution_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(SYSTEM))
    assert bootstrap.system_python() is None
    monkeypatch.setattr(sys, "executable", bootstrap.__file__)  # any file that is not that Python
    makes_some = subprocess.run([SYSTEM, "-c", "import ensurepip, venv"], check=False).returncode == 0
    assert bootstrap.system_python() == (SYSTEM if makes_some else None)

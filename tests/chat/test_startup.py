from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def start(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import crewsite.asgi; print('serving')"],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "crewsite.settings", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_unsafe_production_site_does_not_start_and_says_what_to_do(tmp_path: Path) -> None:
    done = start(
        CREW_HOME=str(tmp_path), CREW_ENV="production", CREW_SECRET_KEY="short", CREW_ALLOWED_HOSTS="*"
    )
    assert done.returncode == 78
    assert "serving" not in done.stdout
    assert "crewsite.E001" in done.stderr
    assert "crewsite.E004" in done.stderr
    assert "openssl rand" in done.stderr


def test_a_site_without_tables_starts_and_says_what_is_missing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    assert start(CREW_HOME=str(home), CREW_SKIP_MODEL_DOWNLOAD="1").returncode == 0

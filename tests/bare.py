"""Our programs as a person starts them: in processes of their own, with none of this one's settings."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.site import ROOT

if TYPE_CHECKING:
    from pathlib import Path

OURS = ("CREW_", "DATABASE_URL", "DJANGO_")


def bare_environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**kept, "CREW_HOME": str(home), **more}


def run_bare(*arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python with these arguments."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=bare_environment(home, **environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

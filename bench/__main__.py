"""`python -m bench NAME [--json PATH]`: runs one benchmark (or `all`), prints its table, and says whether
its bars hold."""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

NAMES: Final = (
    "recall", "context", "doors", "injection", "lessons",
    "thresholds", "chat", "locomo", "consolidation",
)  # fmt: skip
NEEDS_DATA: Final = frozenset({"locomo", "consolidation"})
FOLDER: Final = Path(__file__).parent


def available() -> list[str]:
    return [name for name in NAMES if (FOLDER / f"{name}.py").exists()]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", choices=[*available(), "all"])
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the figures as JSON")
    parser.add_argument("--rows", type=int, default=10_000, help="rows to measure with, where that applies")
    parser.add_argument("--data", type=Path, help="data file of a benchmark that does not ship its own")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crewsite.settings")
    os.environ.setdefault("CREW_LOG_LEVEL", "ERROR")
    worst = 0
    every = [name for name in available() if name not in NEEDS_DATA]
    for name in every if options.name == "all" else [options.name]:
        worst |= run_one(name, options)
    return worst


def run_one(name: str, options: argparse.Namespace) -> int:
    """One benchmark in a process of its own, with a throw-away home: 0 when its bars hold, else 1."""
    if options.name == "all":
        import subprocess

        return subprocess.run([sys.executable, "-m", "bench", name], check=False).returncode
    home = tempfile.mkdtemp(prefix="crewsite-bench-")
    models = Path(os.environ.get("CREW_HOME", "~/.crewsite")).expanduser() / "models"
    os.environ["CREW_BENCH_MODELS"] = str(models)
    os.environ["CREW_HOME"] = home
    try:
        report = importlib.import_module(f"bench.{name}").run(options)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    report.show()
    if options.json:
        options.json.write_text(report.as_json())
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())

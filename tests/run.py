"""`python -m tests.run`: every check after the linters. Stops at the first group that fails.

Groups: migrations are complete; the whole suite on SQLite in two processes; model and service tests on
PostgreSQL.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.postgres import postgres_url

WORKERS = "2"


def run(title: str, *args: str, **environment: str) -> None:
    print(f"\n== {title}", flush=True)
    done = subprocess.run([sys.executable, *args], env={**os.environ, **environment}, check=False)
    if done.returncode:
        sys.exit(f"{title}: failed")


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "crewsite.settings.test"
    run("migrations are complete", "manage.py", "makemigrations", "--check", "--dry-run")
    run("suite on SQLite", "-m", "pytest", "-q", "-n", WORKERS, "--dist", "loadfile", *sys.argv[1:])
    with postgres_url() as url:
        selected = "not sqlite_only and not e2e and not slow"
        run("suite on PostgreSQL", "-m", "pytest", "-q", "-n", WORKERS, "-m", selected, DATABASE_URL=url)


if __name__ == "__main__":
    main()

"""`python -m tests.run`: every check after the linters. Every group runs, whatever became of the others.

Groups: migrations are complete; the whole suite on SQLite in two processes; model and service tests on
PostgreSQL.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.postgres import postgres_url

PYTEST = ("-m", "pytest", "-q", "-n", "2")


def run(title: str, *args: str, **environment: str) -> list[str]:
    """Returns the title when the command failed."""
    print(f"\n== {title}", flush=True)
    done = subprocess.run([sys.executable, *args], env={**os.environ, **environment}, check=False)
    return [title] if done.returncode else []


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "crewsite.settings.test"
    failed = run("migrations are complete", "manage.py", "makemigrations", "--check", "--dry-run")
    failed += run("suite on SQLite", *PYTEST, "--dist", "loadfile", *sys.argv[1:])
    with postgres_url() as url:
        selected = ("-m", "not sqlite_only and not e2e and not slow")
        failed += run("suite on PostgreSQL", *PYTEST, *selected, DATABASE_URL=url)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()

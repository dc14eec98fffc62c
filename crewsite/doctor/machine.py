"""The machine and the environment: what can be said without a database."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.conf import settings

from crewsite.doctor.findings import Finding, fail, ok, warn

MIN_PYTHON: Final = (3, 11)
MIN_SQLITE: Final = (3, 34)  # the first with FTS5's trigram tokenizer
# Below the first a migration or an index file may not fit; below the second a month of use may not.
DISK_FAIL_BYTES: Final = 200_000_000
DISK_WARN_BYTES: Final = 1_000_000_000
ANSWER_S: Final = 2.0
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < MIN_PYTHON:
        yield fail("python", f"{version} is too old", "Install Python 3.11 or newer, then: make run")
    elif sqlite3.sqlite_version_info < MIN_SQLITE:
        told = f"{version} with SQLite {sqlite3.sqlite_version}, which lacks the trigram index"
        yield fail("python", told, "Use a newer Python, or PostgreSQL by DATABASE_URL.")
    else:
        yield ok("python", f"{version}, SQLite {sqlite3.sqlite_version}")


def home() -> Iterator[Finding]:
    folder = Path(settings.CREW_HOME)
    if not folder.is_dir():
        yield fail(
            "home", f"{folder} is not there", "Make it with: crew setup (CREW_HOME chooses another place)"
        )
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield fail(
            "home", f"{folder} cannot be written to", f"chown -R $USER {folder}, or choose another CREW_HOME"
        )
    else:
        yield from _permissions(folder)
    yield from disk(folder)


def _permissions(folder: Path) -> Iterator[Finding]:
    open_to_others = [path for path in (folder, folder / "keys", *_keys(folder)) if _is_open(path)]
    if open_to_others:
        names = ", ".join(str(path) for path in open_to_others)
        yield warn("home", f"other accounts may look into {names}", f"chmod -R go-rwx {open_to_others[0]}")
    else:
        yield ok("home", f"{folder}, for this account alone")


def _keys(folder: Path) -> list[Path]:
    keys = folder / "keys"
    return sorted(keys.iterdir()) if keys.is_dir() and os.access(keys, os.R_OK | os.X_OK) else []


def _is_open(path: Path) -> bool:
    return path.exists() and bool(path.stat().st_mode & OTHERS)


def disk(folder: Path) -> Iterator[Finding]:
    there = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(there).free
    told = f"{free / 1e9:.1f} GB free at {there}"
    remedy = "Make room: writes fail when the disk is full."
    if free < DISK_FAIL_BYTES:
        yield fail("disk", told, remedy)
    elif free < DISK_WARN_BYTES:
        yield warn("disk", told, remedy)
    else:
        yield ok("disk", told)


def settings_are_safe() -> Iterator[Finding]:
    from crewsite.checks import environment_is_readable, production_is_safe

    problems = [*environment_is_readable(), *production_is_safe()]
    for problem in problems:
        tell = fail if problem.is_serious() else warn
        yield tell("settings", f"{problem.msg} ({problem.id})", str(problem.hint or ""))
    if settings.DEBUG and not settings.PRODUCTION:
        yield warn("settings", "CREW_DEBUG is on: errors show the site's insides", "Unset CREW_DEBUG.")
    if "*" in settings.ALLOWED_HOSTS and not settings.PRODUCTION:
        yield warn("settings", "it answers to any host name", "List this site's names in CREW_ALLOWED_HOSTS.")
    if not problems:
        yield ok(
            "settings",
            f"{'production' if settings.PRODUCTION else 'development'}, {settings.CREW_PUBLIC_URL}",
        )


def port() -> Iterator[Finding]:
    from crewsite.running import port_problem

    place = f"{settings.CREW_HOST}:{settings.CREW_PORT}"
    if site_answers():
        yield ok("port", f"Crewsite answers at {place}")
    elif port_problem():
        remedy = f"Stop it, or choose another port: CREW_PORT={settings.CREW_PORT + 1} crew run"
        yield fail("port", f"another program holds {place}, or this one may not listen there", remedy)
    else:
        yield ok("port", f"{place} is free; the site is not running (crew run)")


def site_answers() -> bool:
    """Whether it is our site that listens on our port."""
    from crewsite.running import live_url

    try:
        with urllib.request.urlopen(live_url(), timeout=ANSWER_S) as answer:  # noqa: S310 - our own address
            return bool(json.load(answer) == {"status": "ok"})
    except (urllib.error.URLError, OSError, ValueError):
        return False


def static_files() -> Iterator[Finding]:
    from crewsite.setup import static_is_current

    if static_is_current():
        yield ok("static files", f"up to date in {settings.STATIC_ROOT}")
    else:
        yield warn("static files", "missing or older than the program: pages may look broken", "crew setup")

"""What must be in place before the site serves: home, database, model, schedules, static files, owner.
Every step is idempotent and quick when there is nothing to do; one that fails says what to do about it."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from crewsite.security.text import number_of

MIN_SQLITE: Final = (3, 34)  # the first with FTS5's trigram tokenizer


class SetupFailed(RuntimeError):
    """A step that the site cannot do without has failed; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Step:
    title: str
    run: Callable[[], str]


def setup_steps() -> tuple[Step, ...]:
    return (
        Step("home", prepare_home),
        Step("database", prepare_database),
        Step("model", prepare_model),
        Step("schedules", prepare_schedules),
        Step("static files", prepare_static),
        Step("owner", prepare_owner),
    )


@contextmanager
def _failing_with(problem: str, remedy: str, *errors: type[Exception]) -> Iterator[None]:
    try:
        yield
    except errors as error:
        raise SetupFailed(f"{problem}: {error}\n  {remedy}") from error


def prepare_home() -> str:
    home = settings.CREW_HOME
    with _failing_with(
        f"{home} cannot be used", "Choose a folder you may write to: CREW_HOME=/path make run", OSError
    ):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("keys", "models", "index", "uploads"):
            (home / name).mkdir(mode=0o700, exist_ok=True)
        probe = home / ".write-probe"
        probe.write_text("ok")
        probe.unlink()
    return str(home)


def prepare_database() -> str:
    if connection.vendor == "sqlite" and sqlite3.sqlite_version_info < MIN_SQLITE:
        raise SetupFailed(
            f"SQLite {sqlite3.sqlite_version} is too old (3.34 or newer is needed).\n"
            "  Use a newer Python, or PostgreSQL."
        )
    remedy = "Check DATABASE_URL, free disk space, and that no other program holds the database."
    with _failing_with("The database cannot be prepared", remedy, DatabaseError):
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if not pending:
            return "up to date"
        call_command("migrate", interactive=False, verbosity=0)
        return f"{number_of(len(pending), 'migration')} applied"


def prepare_model() -> str:
    """A site without its model works by keyword, so a failure here is reported and not fatal."""
    from crewsite.embeddings.install import InstallFailed, install_compact

    if settings.CREW_EMBED_MODEL_PATH or settings.CREW_EMBED_BASE_URL:
        return "set by the environment"
    if settings.CREW_SKIP_MODEL_DOWNLOAD:
        return "skipped (CREW_SKIP_MODEL_DOWNLOAD)"
    try:
        return f"{install_compact().name} ready"
    except InstallFailed as error:
        return f"NOT READY, search works by keyword: {error}\n  Try again: .venv/bin/crew embeddings install"


def model_is_settled() -> bool:
    """Nothing is left for another set-up to fetch."""
    from crewsite.embeddings.service import embedder_status

    return settings.CREW_SKIP_MODEL_DOWNLOAD or embedder_status().state != "absent"


def prepare_schedules() -> str:
    call_command("sync_schedules", verbosity=0)
    return "in place"


def _static_fingerprint() -> str:
    """Changes when our assets or a library that ships some change."""
    digest = hashlib.sha256()
    for folder in map(Path, settings.STATICFILES_DIRS):
        for path in sorted(folder.rglob("*")):
            digest.update(f"{path} {path.stat().st_mtime_ns}".encode())
    for name in ("django", "django-unfold", "djangorestframework", "drf-spectacular-sidecar", "django-htmx"):
        digest.update(f"{name} {metadata.version(name)}".encode())
    return digest.hexdigest()


def _static_stamp() -> Path:
    return Path(settings.STATIC_ROOT) / ".crewsite-static"


def static_is_current() -> bool:
    stamp = _static_stamp()
    return stamp.exists() and stamp.read_text() == _static_fingerprint()


def prepare_static() -> str:
    if static_is_current():
        return "up to date"
    with _failing_with(
        "Static files cannot be written", f"Check {settings.STATIC_ROOT} and free disk space.", OSError
    ):
        call_command("collectstatic", interactive=False, verbosity=0)
        _static_stamp().write_text(_static_fingerprint())
    return "collected"


def prepare_owner() -> str:
    from crewsite.accounts.services import owner_ensure

    return owner_ensure().get_username()

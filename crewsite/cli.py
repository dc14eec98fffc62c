"""`crew`: Django's command line under friendlier names, with one switch of its own, `crew --version`."""

from __future__ import annotations

import os
import sys
from typing import Final

# What people type -> the management command. Words not listed pass through, so every Django command
# works too.
ALIASES: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    ("login-link",): ("login_link",),
    ("setup-owner",): ("setup_owner",),
    ("sync-schedules",): ("sync_schedules",),
    ("embeddings", "backfill"): ("search_index", "backfill"),
    ("embeddings", "rebuild"): ("search_index", "rebuild"),
}

GROUPS: Final[dict[str, str]] = {
    "run": "start web and worker, preparing everything first",
    "setup": "prepare model, database, schedules, static files and owner; start nothing",
    "status": "what runs, what is degraded, and what to do about it",
    "learn": "add | list | remove | restore lessons",
    "memory": "search | list | show | stats | remember | restore memory rows",
    "consolidate": "list what waits to become memory, or consolidate it now",
    "embeddings": "status | install the model; backfill | rebuild the index",
    "mcp": "serve memory to one coding agent over standard input and output",
    "maintenance": "begin | end | status: keep everybody from writing for a while",
    "token": "create | list | revoke API tokens",
    "login-link": "print a one-time login link for the owner",
}


def usage() -> str:
    lines = [f"  {name:<12} {what}" for name, what in GROUPS.items()]
    return "\n".join(
        ["usage: crew COMMAND [...]", "", *lines, "", "crew COMMAND --help tells more about each."]
    )


def main() -> None:
    os.umask(0o077)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crewsite.settings")
    words = sys.argv[1:]
    if not words or words[0] in {"-h", "--help", "help"}:
        sys.stdout.write(usage() + "\n")
        sys.exit(0 if words else 2)
    if words[0] in {"-V", "--version"}:
        from importlib import metadata

        sys.stdout.write(f"crewsite {metadata.version('crewsite')}\n")
        return
    try:
        sys.exit(dispatch(words))
    except OSError as error:
        home = os.environ.get("CREW_HOME", "~/.crewsite")
        sys.exit(f"{home} cannot be used: {error}\n  Choose a folder you may write to with CREW_HOME.")


def dispatch(words: list[str]) -> int:
    """Runs one command. What goes wrong with the installation is one line; `--traceback` shows all of it."""
    if words == ["run"]:
        from crewsite.running import serve

        return serve()
    if words[0] == "mcp":
        os.environ.setdefault("CREW_LOG_LEVEL", "WARNING")
        from crewsite.mcp.stdio import main as serve_mcp

        return serve_mcp(words[1:])
    os.environ.setdefault("CREW_LOG_LEVEL", "WARNING")  # a command's messages are its own
    import django
    from django.core.management import execute_from_command_line, get_commands
    from django.db import DatabaseError

    django.setup()
    from crewsite.jobs.errors import MaintenanceInProgress

    words = resolve(words)
    if words[0] not in get_commands():
        sys.stderr.write(f"crew: there is no command {words[0]!r}\n\n{usage()}\n")
        return 2
    try:
        execute_from_command_line(["crew", *words])
    except MaintenanceInProgress as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1
    except DatabaseError as error:
        if "--traceback" in words:
            raise
        sys.stderr.write(f"The database does not answer: {error}\n  Not set up yet? Run: make run\n")
        return 1
    return 0


def resolve(words: list[str]) -> list[str]:
    """The words with the longest known alias at their head replaced."""
    for length in (2, 1):
        if target := ALIASES.get(tuple(words[:length])):
            return [*target, *words[length:]]
    return words


if __name__ == "__main__":
    main()

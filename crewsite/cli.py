"""`crew`: Django's command line under friendlier names, with one switch of its own, `crew --version`."""

from __future__ import annotations

import os
import sys
from typing import Final

# What people type -> the management command. Names not listed pass through, so every Django command works too.
ALIASES: Final[dict[str, str]] = {"login-link": "login_link", "sync-schedules": "sync_schedules"}

GROUPS: Final[dict[str, str]] = {
    "run": "start web and worker, preparing everything first",
    "setup": "prepare model, database, schedules, static files and owner; start nothing",
    "status": "what runs, what is degraded, and what to do about it",
    "learn": "add | list | remove lessons",
    "memory": "search | list | show | stats | remember | restore memory rows",
    "embeddings": "status | install the embedding model",
    "token": "create | list | revoke API tokens",
    "login-link": "print a one-time login link for the owner",
}


def usage() -> str:
    lines = [f"  {name:<12} {what}" for name, what in GROUPS.items()]
    return "\n".join(["usage: crew COMMAND [...]", "", *lines, "", "crew COMMAND --help tells more about each."])


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
    from django.core.management import execute_from_command_line

    execute_from_command_line(["crew", ALIASES.get(words[0], words[0]), *words[1:]])

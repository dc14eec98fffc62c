"""`crew`: Django's command line under friendlier names, with one switch of its own, `crew --version`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

# What people type -> the management command. Words not listed pass through, so every Django command
# works too.
ALIASES: Final[dict[str, str]] = {
    "login-link": "login_link",
    "setup-owner": "setup_owner",
    "sync-schedules": "sync_schedules",
}

INTERRUPTED: Final = 130  # what a shell says of a command that Ctrl-C ended
# Commands people wait for, which need no page and no admin: they start in half the time.
QUICK: Final = frozenset(
    {
        "chat",
        "config",
        "consolidate",
        "doctor",
        "embeddings",
        "learn",
        "login-link",
        "login_link",
        "maintenance",
        "mcp",
        "memory",
        "status",
        "token",
    }
)
# Commands that may work on another site (`--server`).
ELSEWHERE: Final = frozenset({"chat", "learn", "memory"})
# Commands that make a site, or do without one.
PREPARING: Final = frozenset({"completion", "doctor", "run", "setup"})
NO_SITE: Final = (
    "There is no Crewsite in {}.\n  Set one up with: make run (or crew setup). CREW_HOME names another place."
)

NOT_SET_UP: Final = "Not set up yet? Run: make run"

GROUPS: Final[dict[str, str]] = {
    "run": "start web and worker, preparing everything first",
    "setup": "prepare model, database, schedules, static files and owner; start nothing",
    "doctor": "examine the installation and say what to do about each problem",
    "status": "what runs, what is degraded, and what to do about it",
    "learn": "add | list | remove | restore lessons",
    "memory": "search | list | show | explain | audit | as-of | stats | remember | restore",
    "consolidate": "list what waits to become memory, or consolidate it now",
    "embeddings": "status | install | use another model; backfill | rebuild the index",
    "chat": "talk in the terminal, or answer what is piped in",
    "config": "get | set | list live settings",
    "mcp": "serve memory to one coding agent over standard input and output",
    "maintenance": "begin | end | status: keep everybody from writing for a while",
    "token": "create | list | revoke API tokens",
    "login-link": "print a one-time login link for the owner",
    "completion": "print a completion script for bash or zsh",
}


def usage() -> str:
    lines = [f"  {name:<12} {what}" for name, what in GROUPS.items()]
    return "\n".join(
        ["usage: crew COMMAND [...]", "", *lines, "", "crew COMMAND --help tells more about each."]
    )


def main() -> None:
    os.umask(0o077)
    words = sys.argv[1:]
    if not words or words[0] in {"-h", "--help", "help"}:
        sys.stdout.write(usage() + "\n")
        sys.exit(0 if words else 2)
    if words[0] in {"-V", "--version"}:
        from importlib import metadata

        sys.stdout.write(f"crewsite {metadata.version('crewsite')}\n")
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings_for(words))
    if _works_elsewhere(words):
        # Nothing is signed here, and a machine without a site is not given a home for it.
        _do_without_a_key()
    if problem := _without_a_site(words):
        sys.exit(problem)
    try:
        try:
            sys.exit(dispatch(words))
        finally:
            sys.stdout.flush()
    except BrokenPipeError as broken:
        # Whoever read the output has enough, which is no failure; nor may what is still buffered be one at
        # the interpreter's end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        ended = broken.__context__
        sys.exit(ended.code if isinstance(ended, SystemExit) else 0)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:
        home = os.environ.get("CREW_HOME", "~/.crewsite")
        sys.exit(f"{home} cannot be used: {error}\n  Choose a folder you may write to with CREW_HOME.")


def named_home() -> Path:
    """The home as the environment names it; before settings are read, which would make one."""
    named = os.environ.get("CREW_HOME", "").strip() or "~/.crewsite"
    return Path(os.path.expanduser(named))  # noqa: PTH111 - never raises: settings tell what is wrong


def _without_a_site(words: list[str]) -> str:
    """What to do first where no site was set up; such a place stays as it is. Empty: go on."""
    if words[0] not in {*GROUPS, *ALIASES, *ALIASES.values()}:
        return ""
    home = named_home()
    if words[0] == "completion" or not {"-h", "--help"}.isdisjoint(words):
        if not (home / "keys" / "secret.key").exists():
            _do_without_a_key()
        return ""
    if words[0] in PREPARING or _works_elsewhere(words) or os.environ.get("DATABASE_URL", "").strip():
        return ""
    try:
        if (home / "crewsite.sqlite3").exists():
            return ""
    except OSError:
        return ""
    return NO_SITE.format(home)


def settings_for(words: Sequence[str]) -> str:
    """The settings module that a command line runs with."""
    return "crewsite.settings.command" if words and words[0] in QUICK else "crewsite.settings"


def _do_without_a_key() -> None:
    import secrets

    os.environ.setdefault("CREW_SECRET_KEY", secrets.token_urlsafe(48))


def _works_elsewhere(words: list[str]) -> bool:
    named = any(word.startswith("--server") for word in words) or os.environ.get("CREW_SERVER", "").strip()
    return words[0] in ELSEWHERE and bool(named)


def dispatch(words: list[str]) -> int:
    """Runs one command. What goes wrong with the installation is one line; `--traceback` shows all of it."""
    if words == ["run"]:
        from crewsite.running import serve

        return serve()
    os.environ.setdefault("CREW_LOG_LEVEL", "WARNING")  # a command's messages are its own
    if words[0] == "mcp":
        from crewsite.mcp.stdio import main as serve_mcp

        return serve_mcp(words[1:])
    if words[0] == "doctor":
        from crewsite.doctor.report import main as examine

        return examine(words[1:])
    if words[0] == "completion":
        from crewsite.completion import main as complete

        return complete(words[1:])
    return run_command([ALIASES.get(words[0], words[0]), *words[1:]])


def run_command(words: list[str]) -> int:
    import django
    from django.core.management import ManagementUtility, get_commands
    from django.db import DatabaseError

    django.setup()
    from crewsite.jobs.errors import MaintenanceInProgress
    from crewsite.jobs.storage import store_refusal

    if words[0] not in get_commands():
        sys.stderr.write(f"crew: there is no command {words[0]!r}\n\n{usage()}\n")
        return 2
    if words[0] in {*GROUPS, *ALIASES.values()} - PREPARING and _settings_mislead(words[0]):
        return 1
    try:
        # Not through `execute_from_command_line`, which sets everything up once more.
        line = ["crew", *words]
        ManagementUtility(line).fetch_command(words[0]).run_from_argv(line)
    except (MaintenanceInProgress, DatabaseError) as error:
        if isinstance(error, DatabaseError) and "--traceback" in words:
            raise
        refusal = store_refusal(error)
        told = f"{refusal}\n" if refusal else f"The database does not answer: {error}\n  {NOT_SET_UP}\n"
        sys.stderr.write(told)
        return 1
    return 0


def _settings_mislead(name: str) -> bool:
    """Tells of settings that cannot be read. Without the database that was meant, nothing is done."""
    from crewsite.settings.env import PROBLEMS

    for problem in PROBLEMS if name != "status" else ():  # it tells of them itself
        sys.stderr.write(f"{problem.message} {problem.hint}\n")
    return any(problem.name == "DATABASE_URL" for problem in PROBLEMS)


if __name__ == "__main__":
    main()

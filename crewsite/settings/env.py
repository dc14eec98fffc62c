"""Typed parsers for environment variables. A wrong value never stops the import: the default is used,
the problem is
kept in `PROBLEMS`, and `crewsite.checks` turns each into a system check with a hint."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off", ""})
EVERYBODY = "0.0.0.0/0,::/0"
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Problem:
    """One environment variable that could not be read."""

    name: str
    message: str
    hint: str


PROBLEMS: list[Problem] = []


def env_str(name: str, default: str = "") -> str:
    """The variable without surrounding blanks, or the default when it is unset or empty."""
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, *, default: bool = False) -> bool:
    raw = os.environ.get(name)
    if raw is None:
        return default
    word = raw.strip().lower()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    PROBLEMS.append(
        Problem(name, f"{name} is {raw!r}, which is neither yes nor no.", f"Set {name} to 1 or 0.")
    )
    return default


def env_int(name: str, default: int, *, low: int, high: int) -> int:
    raw = env_str(name)
    if not raw:
        return default
    try:
        value = int(raw)
    except ValueError:
        PROBLEMS.append(
            Problem(name, f"{name} is {raw!r}, which is not a whole number.", f"Use {low} to {high}.")
        )
        return default
    if not low <= value <= high:
        PROBLEMS.append(
            Problem(name, f"{name} is {value}, outside {low} to {high}.", f"Use {low} to {high}.")
        )
        return default
    return value


def env_list(name: str) -> list[str]:
    """A comma-separated list; blanks and empty parts dropped."""
    return _parts(os.environ.get(name, ""))


def env_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = env_str(name, default)
    if value in choices:
        return value
    PROBLEMS.append(Problem(name, f"{name} is {value!r}.", f"Use one of: {', '.join(choices)}."))
    return default


def env_path(name: str, default: str) -> Path:
    try:
        return Path(env_str(name, default)).expanduser().absolute()
    except RuntimeError:
        PROBLEMS.append(
            Problem(name, f"{name} is in the home of nobody here.", f"Set {name} to a path from /.")
        )
        return Path(default).expanduser().absolute()


def env_time_zone(name: str, default: str) -> str:
    value = env_str(name, default)
    try:
        ZoneInfo(value)
    except (KeyError, ValueError, OSError):
        PROBLEMS.append(Problem(name, f"{name} is {value!r}, no time zone.", "Use one like Europe/Berlin."))
        return default
    return value


def env_urls(name: str, default: str = "") -> list[str]:
    """Web addresses, separated by commas, without a slash at their ends."""
    found = [url.rstrip("/") for url in env_list(name) or _parts(default)]
    wrong = [url for url in found if not is_web_address(url)]
    if wrong:
        text = f"{name} holds {wrong[0]!r}, which is no web address."
        PROBLEMS.append(Problem(name, text, f"Use an address such as {name}=https://crew.example.org"))
        return _parts(default)
    return found


def env_networks(name: str) -> tuple[Network, ...]:
    """Addresses and networks, separated by commas; `*` is every address."""
    try:
        parts = _parts(env_str(name).replace("*", EVERYBODY))
        return tuple(ipaddress.ip_network(part, strict=False) for part in parts)
    except ValueError as error:
        PROBLEMS.append(Problem(name, f"{name}: {error}.", f"Use {name}=127.0.0.1,10.0.0.0/8"))
        return ()


def env_database(name: str, sqlite_path: Path, *, synchronous: str) -> dict[str, object]:
    """Django's DATABASES entry from a `postgresql://user:password@host:port/name?...` address, or tuned
    SQLite.

    SQLite: write-ahead log so readers never wait for the writer, IMMEDIATE transactions so that a
    read-decide-write
    takes its lock at once instead of failing at the first write, and 20 s of patience for another
    process's write.
    """
    url = env_str(name)
    if url:
        if server := _postgresql(url):
            return server
        PROBLEMS.append(
            Problem(
                name,
                f"{name} is not a PostgreSQL address with a database name.",
                f"Use {name}=postgresql://user:password@host:5432/crewsite, or unset it for SQLite.",
            )
        )
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(sqlite_path),
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                f"PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous}; PRAGMA foreign_keys=ON;"
                " PRAGMA temp_store=MEMORY; PRAGMA mmap_size=134217728; PRAGMA cache_size=-16000;"
                " PRAGMA journal_size_limit=67108864;"
            ),
        },
        "TEST": {"NAME": str(sqlite_path.with_name("test-" + sqlite_path.name))},
    }


def _postgresql(url: str) -> dict[str, object] | None:
    """None for what is no such address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # a port that is no number, a bracket that is not closed
        return None
    if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
        return None
    query = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(query.pop("host", "") or parts.hostname or ""),
        "PORT": str(port or ""),
        "OPTIONS": {key: unquote(value) for key, value in query.items()},
        "CONN_HEALTH_CHECKS": True,
    }


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        return False

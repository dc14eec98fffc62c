"""`crew run`: set up if anything changed since the last set-up, start every process of the Procfile, and
print where to sign in. Reads settings but never loads the apps, so that the second start wastes no second."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Final

from django.conf import settings

from crewsite.checks import EXIT_CONFIG, refusals

READY_TIMEOUT_S: Final = 60
POLL_S: Final = 0.1
# People wait for the web process; the others start once it has had the processor to itself.
WEB_AHEAD_S: Final = 3
ANY_ADDRESS: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared, never bound
# What a person or a supervisor ends the site with is no failure.
STOPPED_ON_PURPOSE: Final = frozenset({128 + signal.SIGINT, 128 + signal.SIGTERM})


def serve() -> int:
    """Blocks until the site ends; the exit code of the process that ended first, 0 after Ctrl-C."""
    if problem := "\n".join(refusals()) or port_problem():
        sys.stderr.write(problem + "\n")
        return EXIT_CONFIG
    if not is_set_up():
        done = crew("setup")
        if done.wait():
            return done.returncode
    threading.Thread(target=announce, daemon=True).start()
    code = start_processes()
    return 0 if code in STOPPED_ON_PURPOSE else code


def crew(*arguments: str, stdout: int | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "crewsite.cli", *arguments]
    return subprocess.Popen(command, stdout=stdout, text=True)  # noqa: S603 - our own program


def port_problem() -> str:
    family = socket.AF_INET6 if ":" in settings.CREW_HOST else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.CREW_HOST, settings.CREW_PORT))
        except OSError as error:
            return (
                f"Cannot listen on {settings.CREW_HOST}:{settings.CREW_PORT}: {error.strerror}.\n"
                "  Stop what listens there, or choose another port: CREW_PORT=8001 make run"
            )
    return ""


def setup_stamp() -> Path:
    return Path(settings.CREW_HOME) / ".set-up"


def setup_fingerprint() -> str:
    """Changes with the code, its migrations and assets, the requirements, the Python and the database."""
    digest = hashlib.sha256(f"{sys.version} {settings.DATABASES['default']!r}".encode())
    root = Path(settings.BASE_DIR)
    sources = [root / "pyproject.toml", root / "constraints.txt", *(root / "static").rglob("*")]
    for package in ("crewsite", "memory", "lessons"):
        sources += (root / package).rglob("*.py")
    for path in sorted(sources):
        digest.update(f"{path} {path.stat().st_mtime_ns}".encode())
    return digest.hexdigest()


def is_set_up() -> bool:
    """Whether `crew setup` has finished with all of this; a deleted database or model counts as not."""
    database = settings.DATABASES["default"]
    there = "sqlite" not in str(database["ENGINE"]) or Path(str(database["NAME"])).exists()
    stamp = setup_stamp()
    return there and stamp.exists() and stamp.read_text() == setup_fingerprint()


def start_processes() -> int:
    """Runs the Procfile with honcho; returns the exit code of the process that ended first."""
    from honcho.environ import parse_procfile
    from honcho.manager import Manager

    # Not resolved: the folder of the link itself is the environment's.
    binaries = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONUNBUFFERED": "1",
        "CREW_HOST": settings.CREW_HOST,
        "CREW_PORT": str(settings.CREW_PORT),
    }
    manager = Manager()
    procfile = parse_procfile((settings.BASE_DIR / "Procfile").read_text())
    for name, command in procfile.processes.items():
        wait = "" if name == "web" else f"sleep {WEB_AHEAD_S}; "
        manager.add_process(name, f"{wait}exec {command}", env=environment, cwd=str(settings.BASE_DIR))
    manager.loop()
    return int(manager.returncode or 0)


def live_url() -> str:
    host = "127.0.0.1" if settings.CREW_HOST in ANY_ADDRESS else settings.CREW_HOST
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.CREW_PORT}/api/v1/health/live"


def wait_until_live() -> bool:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        with (
            contextlib.suppress(urllib.error.URLError, OSError),
            urllib.request.urlopen(live_url(), timeout=2),  # noqa: S310 - our own address
        ):
            return True
        time.sleep(POLL_S)
    return False


def announce() -> None:
    """Prints the address and a one-time login link once the site answers."""
    if not wait_until_live():
        sys.stderr.write(f"\n  The site did not answer in {READY_TIMEOUT_S} s; read the lines of `web`.\n\n")
        return
    made = crew("login-link", stdout=subprocess.PIPE)
    link = made.communicate()[0].strip()
    sys.stderr.write(
        f"\n  Crewsite runs at {settings.CREW_PUBLIC_URL}   (Ctrl-C stops it)\n"
        f"  Sign in as the owner; the link works once, within 15 minutes:\n  {link}\n\n"
    )
    if settings.CREW_HOST in ANY_ADDRESS and "*" not in settings.ALLOWED_HOSTS:
        names = ", ".join(settings.ALLOWED_HOSTS)
        sys.stderr.write(
            f"  It listens on every address but answers only to: {names}.\n"
            "  For other machines set CREW_PUBLIC_URL and CREW_ALLOWED_HOSTS.\n\n"
        )
    sys.stderr.flush()

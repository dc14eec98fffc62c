"""`crew run`: set up, then start every process of the Procfile, and print where to sign in once the site
answers."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import Any, Final

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

READY_TIMEOUT_S: Final = 60
POLL_S: Final = 0.1


class Command(BaseCommand):
    help = "Start web and worker, preparing everything first. Stop with Ctrl-C."
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        self.refuse_taken_port()
        call_command("setup", verbosity=options["verbosity"], stderr=self.stderr._out)
        link = self.login_link()
        threading.Thread(target=announce, args=(link,), daemon=True).start()
        sys.exit(start_processes())

    def refuse_taken_port(self) -> None:
        family = socket.AF_INET6 if ":" in settings.CREW_HOST else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((settings.CREW_HOST, settings.CREW_PORT))
            except OSError as error:
                raise CommandError(
                    f"Cannot listen on {settings.CREW_HOST}:{settings.CREW_PORT}: {error.strerror}.\n"
                    "  Stop what listens there, or choose another port: CREW_PORT=8001 make run"
                ) from error

    def login_link(self) -> str:
        from crewsite.accounts.services import login_link_create, owner_ensure

        return f"{settings.CREW_PUBLIC_URL}/login/link/{login_link_create(owner_ensure())}/"


def start_processes() -> int:
    """Runs the Procfile with honcho; returns the exit code of the process that ended first."""
    from honcho.environ import parse_procfile
    from honcho.manager import Manager

    binaries = os.path.dirname(sys.executable)  # noqa: PTH120 - not resolved: the link's own folder is the environment's
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
        manager.add_process(name, f"exec {command}", env=environment, cwd=str(settings.BASE_DIR))
    manager.loop()
    return int(manager.returncode or 0)


def announce(link: str) -> None:
    """Waits until the site answers, then prints the address and the one-time link."""
    host = "127.0.0.1" if settings.CREW_HOST in {"0.0.0.0", "::"} else settings.CREW_HOST  # noqa: S104 - compared, not bound
    live = f"http://{f'[{host}]' if ':' in host else host}:{settings.CREW_PORT}/api/v1/health/live"
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        with contextlib.suppress(urllib.error.URLError, OSError), urllib.request.urlopen(live, timeout=2):
            sys.stderr.write(
                f"\n  Crewsite runs at {settings.CREW_PUBLIC_URL}\n"
                f"  Sign in as the owner (works once, for 15 minutes):\n  {link}\n\n"
            )
            sys.stderr.flush()
            return
        time.sleep(POLL_S)
    sys.stderr.write(
        f"\n  The site did not answer within {READY_TIMEOUT_S} s; read the lines of `web` above.\n\n"
    )

"""A real site for tests: daphne in its own process, on a free port, with its own home. Migrations run once
and are cached by their content; every site starts from a copy."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 60
PASSWORD = "correct horse battery"
# The cast, made in the cached home: Alice owns the default workspace, Bob is a member, Charlie is a stranger.
CAST = f"""
from crewsite.accounts.models import Membership, Role, User, Workspace
home = Workspace.objects.get_or_create(slug="default", defaults={{"name": "Default"}})[0]
for name, role in (("alice", Role.OWNER), ("bob", Role.MEMBER), ("charlie", None)):
    user = User.objects.create_user(username=name, password={PASSWORD!r}, is_staff=name == "alice")
    if role:
        Membership.objects.create(user=user, workspace=home, role=role)
"""


class Site:
    """`start`, `kill` and `stop` the server; `run` executes Django code against the same home."""

    def __init__(self, home: Path, environment: dict[str, str]) -> None:
        self.home = home
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.environment = {
            **{
                k: v
                for k, v in os.environ.items()
                if not k.startswith(("CREW_", "DATABASE_URL", "REDIS_URL"))
            },
            "CREW_HOME": str(home),
            "CREW_PORT": str(self.port),
            "CREW_SKIP_MODEL_DOWNLOAD": "1",
            "DJANGO_SETTINGS_MODULE": "crewsite.settings.test",
            "PYTHONPATH": str(ROOT),
            **environment,
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def socket_url(self, conversation: str) -> str:
        return f"ws://127.0.0.1:{self.port}/ws/chat/{conversation}/"

    @property
    def log(self) -> str:
        return (self.home / "daphne.log").read_text(errors="replace")

    def start(self) -> None:
        command = ["-m", "daphne", "-b", "127.0.0.1", "-p", str(self.port)]
        # As in the Procfile: a hundred sockets that open at once wait for each other to be let in.
        command += ["--no-server-name", "--websocket_connect_timeout", "30", "--verbosity", "0"]
        command += ["crewsite.asgi:application"]
        with (self.home / "daphne.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *command], cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            with suppress(OSError), closing(socket.create_connection(("127.0.0.1", self.port), timeout=1)):
                return
            time.sleep(0.05)
        raise AssertionError(f"daphne did not start:\n{self.log}")

    def kill(self) -> None:
        """As the kernel or a power cut would end it."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)

    def run(self, code: str) -> str:
        """Standard output of Python code run after `django.setup()` in a process of its own."""
        script = f"import django; django.setup()\n{code}"
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def query(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Rows of the site's own database, read beside the running server."""
        with closing(sqlite3.connect(self.home / "crewsite.sqlite3", timeout=20)) as database:
            return database.execute(sql, parameters).fetchall()

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def running_site(home: Path, **environment: str) -> Iterator[Site]:
    """A started site in the empty folder `home`. Connect a model with `**LlmServer.environment()`."""
    shutil.copytree(prepared_home(), home, dirs_exist_ok=True)
    home.chmod(0o700)
    site = Site(home, environment)
    site.start()
    try:
        yield site
    finally:
        site.stop()


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def prepared_home() -> Path:
    """A migrated home with the cast in it, made once for these migrations and models."""
    digest = hashlib.sha256(CAST.encode())
    for path in sorted(ROOT.glob("*/**/migrations/*.py")) + sorted(ROOT.glob("crewsite/settings/*.py")):
        if ".venv" not in path.parts:
            digest.update(path.read_bytes())
    target = Path(tempfile.gettempdir()) / f"crewsite-test-home-{os.getuid()}-{digest.hexdigest()[:16]}"
    if not target.exists():
        draft = Path(tempfile.mkdtemp(prefix="crewsite-test-draft-"))
        site = Site(draft, {})
        site.manage("migrate", "--verbosity", "0")
        site.run(CAST)
        site.run(
            "from django.db import connection; connection.cursor().execute('PRAGMA wal_checkpoint(TRUNCATE)')"
        )
        with suppress(OSError):  # another test process was faster
            draft.rename(target)
    return target


def make_token(site: Site, user: str = "alice", **fields: Any) -> str:
    """The plaintext of a new API token."""
    return site.run(
        "from crewsite.accounts.models import User\n"
        "from crewsite.accounts.services import token_create\n"
        f"print(token_create(user=User.objects.get(username={user!r}), name='test', **{fields!r})[1])"
    )


def make_site_conversation(site: Site, user: str = "alice", **fields: Any) -> str:
    """The id of a new conversation in the default workspace."""
    return site.run(
        "from crewsite.accounts.models import User, Workspace\n"
        "from crewsite.conversations.services import conversation_create\n"
        f"owner = User.objects.get(username={user!r})\n"
        "home = Workspace.objects.get(slug='default')\n"
        f"print(conversation_create(owner=owner, workspace=home, **{fields!r}).pk)"
    )


@dataclass(frozen=True, slots=True)
class Seat:
    """A member of the default workspace of their own, with a token, a session and a conversation."""

    user: str
    token: str
    session: str
    conversation: str


SEATS = """
import json
from django.test import Client
from crewsite.accounts.models import Membership, Role, User, Workspace
from crewsite.accounts.services import token_create
from crewsite.conversations.services import conversation_create
home = Workspace.objects.get(slug="default")
seats = []
for number in range({start}, {start} + {count}):
    user = User.objects.create_user(username=f"member{{number}}", password="unused")
    Membership.objects.create(user=user, workspace=home, role=Role.MEMBER)
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    seats.append({{
        "user": user.username,
        "token": token_create(user=user, name="test")[1],
        "session": client.cookies["sessionid"].value,
        "conversation": str(conversation_create(owner=user, workspace=home).pk),
    }})
print(json.dumps(seats))
"""


def make_seats(site: Site, count: int, *, start: int = 0) -> list[Seat]:
    """So many members, each with all they need, so that no test meets another's limits or messages."""
    return [Seat(**fields) for fields in json.loads(site.run(SEATS.format(count=count, start=start)))]

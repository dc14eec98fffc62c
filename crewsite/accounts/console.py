"""What the memory commands share: verbs with `--json` and `--workspace`, one way to print, and who is
typing."""

from __future__ import annotations

import argparse
import getpass
import io
import json
import sys
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from crewsite.accounts.models import DEFAULT_SLUG, Workspace
from crewsite.security.origin import Origin, Source, Surface
from crewsite.security.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.core.management.base import OutputWrapper

    from crewsite.accounts.server import Server

EMBEDDER_WAIT_SECONDS: Final = 5.0
MAX_ID_DIGITS: Final = 18  # fits every database, and is quick to read
MAX_LIMIT: Final = 1_000_000_000  # more rows than any table has, and a number every database can count to
PIPED_WIDTH: Final = 100_000  # a program reads whole lines: nothing is folded or cut for it


class MemoryCommand(BaseCommand):
    """Subclasses add verbs with `add_verb` and answer each in `_<verb>(store, options)` with (data for
    `--json`, exit code); a `-` in a verb is a `_` there. The store is what `local` or `remote` gives."""

    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        from crewsite.accounts.server import Refusal

        server = server_named(options)
        store = self.local(workspace_named(options["workspace"])) if server is None else self.remote(server)
        try:
            data, code = getattr(self, f"_{options['verb'].replace('-', '_')}")(store, options)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["json"]:
            self.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, default=str))
        if code:
            sys.exit(code)

    def local(self, workspace: Workspace) -> Any:
        """What does the work in this machine's database."""
        return workspace

    def remote(self, server: Server) -> Any:
        """What does it on another site."""
        raise CommandError("This command works on the site's own machine only.", returncode=2)

    def say(self, text: str, options: dict[str, Any], *, error: bool = False) -> None:
        if error:
            self.stderr.write(text)
        elif not options["json"]:
            self.stdout.write(text)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]], options: dict[str, Any]) -> None:
        """For people only."""
        if not options["json"]:
            table_print(columns, rows, self.stdout)


def table_print(columns: Sequence[str], rows: Iterable[Sequence[str]], out: OutputWrapper) -> None:
    """The first column, the id, is never folded."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for place, name in enumerate(columns):
        table.add_column(name, no_wrap=place == 0, overflow="fold")
    for row in rows:
        table.add_row(*row)
    width = None if out.isatty() else PIPED_WIDTH
    # Written by ourselves: rich ends the process with 1 when the reader has enough.
    shown = io.StringIO()
    Console(file=shown, force_terminal=out.isatty(), width=width, highlight=False, markup=False).print(table)
    out.write(shown.getvalue())


def add_verb(verbs: Any, name: str, help_text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=help_text)
    parser.add_argument("--json", action="store_true", help="for programs")
    add_place(parser)
    return parser


def add_place(parser: argparse.ArgumentParser) -> None:
    """Which workspace, here or on another site."""
    parser.add_argument("--workspace", default="", metavar="SLUG", help="a workspace (default: default)")
    parser.add_argument("--server", default="", metavar="URL", help="use another site's API (or CREW_SERVER)")
    parser.add_argument("--token", default="", help="the API token for it (or CREW_TOKEN)")


def server_named(options: dict[str, Any]) -> Server | None:
    """The site that the options or the environment name; None: this machine's database."""
    from crewsite.accounts.server import Server

    url = (options["server"] or settings.CREW_SERVER).rstrip("/")
    if not url:
        if options["token"]:
            raise CommandError("--token goes with --server.", returncode=2)
        return None
    if not url.startswith(("http://", "https://")):
        raise CommandError(f"--server is an address such as https://crew.example, not {url!r}.", returncode=2)
    return Server(url, options["token"] or settings.CREW_TOKEN, options["workspace"])


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return min(number, MAX_LIMIT)


def row_number(text: str) -> int | None:
    """The row id a person typed, or None when it is no number that a table could hold."""
    usable = text.isascii() and text.isdigit() and len(text) <= MAX_ID_DIGITS
    return int(text) if usable else None


def workspace_named(slug: str) -> Workspace:
    slug = slug or DEFAULT_SLUG
    workspace = Workspace.objects.filter(slug=clean(slug)).select_related("memory_home").first()
    if workspace is None:
        raise CommandError(f"There is no workspace {slug!r}.")
    return workspace


def cli_origin() -> Origin:
    return Origin(source=Source.USER_EXPLICIT, surface=Surface.CLI, actor=getpass.getuser())


def wait_for_embedder() -> None:
    """A one-shot command would otherwise end before the model is loaded, and compare by words alone."""
    from crewsite.embeddings.service import get_embedder

    get_embedder().wait_ready(EMBEDDER_WAIT_SECONDS)

"""`crew learn`: teach, list, remove and bring back lessons. Parses, calls one service, prints."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from typing import IO, TYPE_CHECKING, Any, Final, cast

from django.core.management.base import BaseCommand, CommandError

from crewsite.accounts.models import DEFAULT_SLUG, Workspace
from crewsite.security.origin import Origin, Source, Surface
from crewsite.security.text import clean
from lessons.models import Lesson
from lessons.services import lesson_remove, lesson_restore, lesson_write
from lessons.tools import describe_result, result_data

if TYPE_CHECKING:
    from collections.abc import Sequence

EMBEDDER_WAIT_SECONDS: Final = 5.0
MAX_ID_DIGITS: Final = 18  # fits every database, and is quick to read
MAX_LIMIT: Final = 1_000_000_000  # more rows than any table has, and a number every database can count to
DEFAULT_LIMIT: Final = 50


class Command(BaseCommand):
    help = "Teach lessons, list them, remove them, bring them back."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="verb", required=True, metavar="add|list|remove|restore")
        add = _command(commands, "add", "teach a rule")
        add.add_argument("rule")
        add.add_argument("--negative", default="", help="what not to do instead")
        add.add_argument("--category", choices=Lesson.Category.values, default=Lesson.Category.KNOWLEDGE)
        add.add_argument(
            "--scope", default="", help="part of the path of the projects it reaches; all without it"
        )
        add.add_argument("--pin", action="store_true", help="first in every prompt")
        listing = _command(commands, "list", "lessons in force, in the order prompts show them")
        listing.add_argument("--limit", type=_positive, default=DEFAULT_LIMIT)
        listing.add_argument("--deleted", action="store_true", help="removed and superseded ones instead")
        remove = _command(
            commands, "remove", "remove the lessons that contain a text, or one by its id (les:12)"
        )
        remove.add_argument("query")
        remove.add_argument("--all", action="store_true", help="all that match, when several do")
        restore = _command(commands, "restore", "bring back a removed or superseded lesson")
        restore.add_argument("id", help="such as les:12")

    def handle(self, *args: Any, **options: Any) -> None:
        home = _workspace(options["workspace"]).home
        data, code = getattr(self, f"_{options['verb']}")(home, options)
        if options["json"]:
            self.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, default=str))
        if code:
            sys.exit(code)

    def _add(self, home: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        _wait_for_embedder()
        result = lesson_write(
            home=home,
            rule=options["rule"],
            negative=options["negative"],
            category=options["category"],
            scope=options["scope"],
            pinned=options["pin"],
            origin=_origin(),
        )
        refused = result.outcome == "refused"
        self._say(describe_result(result), options, error=refused)
        return result_data(result), int(refused)

    def _list(self, home: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        rows = Lesson.all_objects.in_home(home)
        rows = rows.deleted().order_by("-deleted_at", "-pk") if options["deleted"] else rows.live().by_rank()
        total = rows.count()
        shown = list(rows[: options["limit"]])
        self._table(shown, options)
        if len(shown) < total:
            self.stderr.write(f"Showing {len(shown)} of {total}.")
        return {"lessons": [_as_dict(row) for row in shown], "total": total}, 0

    def _remove(self, home: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        result = lesson_remove(home=home, query=options["query"], origin=_origin(), all=options["all"])
        self._table(result.removed or result.candidates, options)
        if result.candidates:
            self.stderr.write(f"{len(result.candidates)} lessons match. Name one by its id, or add --all.")
        elif not result.removed:
            self.stderr.write("No lesson matches.")
        else:
            self._say(f"{len(result.removed)} removed.", options)
        data = {
            "removed": [_as_dict(row) for row in result.removed],
            "candidates": [_as_dict(row) for row in result.candidates],
        }
        return data, int(not result.removed)

    def _restore(self, home: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        _wait_for_embedder()
        result = lesson_restore(row=_find(home, options["id"]), origin=_origin())
        refused = result.outcome == "refused"
        self._say(f"{result.outcome} les:{result.row.pk} {result.message}".strip(), options, error=refused)
        data = {
            "outcome": result.outcome,
            "code": result.code,
            "message": result.message,
            **_as_dict(result.row),
        }
        return data, int(refused)

    def _say(self, text: str, options: dict[str, Any], *, error: bool = False) -> None:
        if error:
            self.stderr.write(text)
        elif not options["json"]:
            self.stdout.write(text)

    def _table(self, rows: Sequence[Lesson], options: dict[str, Any]) -> None:
        if options["json"] or not rows:
            return
        from rich.console import Console
        from rich.table import Table

        table = Table("id", "rule", "category", "scope", "source", "pinned", box=None)
        for row in rows:
            pinned = "pinned" if row.pinned else ""
            table.add_row(row.citation, row.rendered, row.category, row.scope, row.source, pinned)
        Console(file=cast("IO[str]", self.stdout), highlight=False, markup=False).print(table)


def _command(commands: Any, name: str, help_text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help_text)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--workspace", default=DEFAULT_SLUG, help="slug of a workspace")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return min(number, MAX_LIMIT)


def _workspace(slug: str) -> Workspace:
    workspace = Workspace.objects.filter(slug=clean(slug)).select_related("memory_home").first()
    if workspace is None:
        raise CommandError(f"There is no workspace {slug!r}.")
    return workspace


def _find(home: Workspace, citation: str) -> Lesson:
    prefix, _, number = citation.strip("[]").partition(":")
    found = prefix == "les" and number.isascii() and number.isdigit() and len(number) <= MAX_ID_DIGITS
    row = Lesson.all_objects.in_home(home).filter(pk=int(number)).first() if found else None
    if row is None:
        raise CommandError(f"There is no {citation!r}. Ids look like les:12.")
    return row


def _origin() -> Origin:
    return Origin(source=Source.USER_EXPLICIT, surface=Surface.CLI, actor=getpass.getuser())


def _wait_for_embedder() -> None:
    """A one-shot command would otherwise end before the model is loaded and compare rules by words alone."""
    from crewsite.embeddings.service import get_embedder

    get_embedder().wait_ready(EMBEDDER_WAIT_SECONDS)


def _as_dict(row: Lesson) -> dict[str, Any]:
    return {
        "id": row.citation,
        "rule": row.rule,
        "negative": row.negative,
        "category": row.category,
        "scope": row.scope,
        "source": row.source,
        "confidence": row.confidence,
        "pinned": row.pinned,
        "created_at": row.created_at.isoformat(timespec="seconds"),
        "deleted_reason": row.deleted_reason,
        "superseded_by": row.superseded_by_id,
    }

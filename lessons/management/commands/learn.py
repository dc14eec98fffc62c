"""`crew learn`: teach, list, remove and bring back lessons. Parses, calls one service, prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.core.management.base import CommandError

from crewsite.accounts.console import (
    MemoryCommand,
    add_verb,
    cli_origin,
    positive,
    row_number,
    wait_for_embedder,
)
from lessons.models import Lesson
from lessons.services import lesson_remove, lesson_restore, lesson_write
from lessons.tools import describe_result, result_data

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from crewsite.accounts.models import Workspace

DEFAULT_LIMIT: Final = 50


class Command(MemoryCommand):
    help = "Teach lessons, list them, remove them, bring them back."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="verb", required=True, metavar="add|list|remove|restore")
        add = add_verb(commands, "add", "teach a rule")
        add.add_argument("rule")
        add.add_argument("--negative", default="", help="what not to do instead")
        add.add_argument("--category", choices=Lesson.Category.values, default=Lesson.Category.KNOWLEDGE)
        add.add_argument(
            "--scope", default="", help="part of the path of the projects it reaches; all without it"
        )
        add.add_argument("--pin", action="store_true", help="first in every prompt")
        listing = add_verb(commands, "list", "lessons in force, in the order prompts show them")
        listing.add_argument("--limit", type=positive, default=DEFAULT_LIMIT)
        listing.add_argument("--deleted", action="store_true", help="removed and superseded ones instead")
        remove = add_verb(
            commands, "remove", "remove the lessons that contain a text, or one by its id (les:12)"
        )
        remove.add_argument("query")
        remove.add_argument("--all", action="store_true", help="all that match, when several do")
        restore = add_verb(commands, "restore", "bring back a removed or superseded lesson")
        restore.add_argument("id", help="such as les:12")

    def _add(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        wait_for_embedder()
        result = lesson_write(
            home=workspace.home,
            rule=options["rule"],
            negative=options["negative"],
            category=options["category"],
            scope=options["scope"],
            pinned=options["pin"],
            origin=cli_origin(),
        )
        refused = result.outcome == "refused"
        self.say(describe_result(result), options, error=refused)
        return result_data(result), int(refused)

    def _list(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        rows = Lesson.all_objects.in_home(workspace.home)
        rows = rows.deleted().order_by("-deleted_at", "-pk") if options["deleted"] else rows.live().by_rank()
        total = rows.count()
        shown = list(rows[: options["limit"]])
        self._lessons(shown, options)
        if len(shown) < total:
            self.stderr.write(f"Showing {len(shown)} of {total}.")
        return {"lessons": [_as_dict(row) for row in shown], "total": total}, 0

    def _remove(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        result = lesson_remove(
            home=workspace.home, query=options["query"], origin=cli_origin(), all=options["all"]
        )
        self._lessons(result.removed or result.candidates, options)
        if result.candidates:
            self.stderr.write(f"{len(result.candidates)} lessons match. Name one by its id, or add --all.")
        elif not result.removed:
            self.stderr.write("No lesson matches.")
        else:
            self.say(f"{len(result.removed)} removed.", options)
        data = {
            "removed": [_as_dict(row) for row in result.removed],
            "candidates": [_as_dict(row) for row in result.candidates],
        }
        return data, int(not result.removed)

    def _restore(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        wait_for_embedder()
        result = lesson_restore(row=_find(workspace.home, options["id"]), origin=cli_origin())
        refused = result.outcome == "refused"
        self.say(f"{result.outcome} les:{result.row.pk} {result.message}".strip(), options, error=refused)
        data = {
            "outcome": result.outcome,
            "code": result.code,
            "message": result.message,
            **_as_dict(result.row),
        }
        return data, int(refused)

    def _lessons(self, rows: Sequence[Lesson], options: dict[str, Any]) -> None:
        cells = [
            (row.citation, row.rendered, row.category, row.scope, row.source, "pinned" if row.pinned else "")
            for row in rows
        ]
        if cells:
            self.table(("id", "rule", "category", "scope", "source", "pinned"), cells, options)


def _find(home: Workspace, citation: str) -> Lesson:
    prefix, _, number = citation.strip("[]").partition(":")
    pk = row_number(number) if prefix == "les" else None
    row = Lesson.all_objects.in_home(home).filter(pk=pk).first() if pk is not None else None
    if row is None:
        raise CommandError(f"There is no {citation!r}. Ids look like les:12.")
    return row


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

"""`crew learn`: teach, list, remove and bring back lessons. Parses, calls one service, prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from crewsite.accounts.console import MemoryCommand, add_verb, positive
from lessons.management.local import LocalLessons, lesson_number
from lessons.models import Lesson

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from crewsite.accounts.models import Workspace
    from crewsite.accounts.server import Server
    from lessons.management.remote import RemoteLessons

    Lessons = LocalLessons | RemoteLessons

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
        restore.add_argument("id", help="such as les:12, or 12")

    def local(self, workspace: Workspace) -> LocalLessons:
        return LocalLessons(workspace)

    def remote(self, server: Server) -> RemoteLessons:
        from lessons.management.remote import RemoteLessons

        return RemoteLessons(server)

    def _add(self, lessons: Lessons, options: dict[str, Any]) -> tuple[Any, int]:
        from lessons.tools import describe_result, result_data

        result = lessons.add(
            rule=options["rule"],
            negative=options["negative"],
            category=options["category"],
            scope=options["scope"],
            pinned=options["pin"],
        )
        refused = result.outcome == "refused"
        self.say(describe_result(result), options, error=refused)
        data = result_data(result) | {"id": result.row.citation if result.row else None}
        return data | {"superseded": [lesson_citation(number) for number in result.superseded]}, int(refused)

    def _list(self, lessons: Lessons, options: dict[str, Any]) -> tuple[Any, int]:
        found = lessons.list(limit=options["limit"], deleted=options["deleted"])
        self._lessons(found.rows, options)
        if len(found.rows) < found.total:
            self.stderr.write(f"Showing {len(found.rows)} of {found.total}.")
        return {"lessons": [_as_dict(row) for row in found.rows], "total": found.total}, 0

    def _remove(self, lessons: Lessons, options: dict[str, Any]) -> tuple[Any, int]:
        result = lessons.remove(query=options["query"], all=options["all"])
        if not (result.removed or result.candidates) and (number := lesson_number(options["query"])):
            result = lessons.remove(query=lesson_citation(number), all=False)
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

    def _restore(self, lessons: Lessons, options: dict[str, Any]) -> tuple[Any, int]:
        result = lessons.restore(citation=options["id"])
        refused = result.outcome == "refused"
        outcome = "restored" if result.outcome == "changed" else result.outcome
        said = f"{outcome} {result.row.citation} {result.message}".strip()
        self.say(said, options, error=refused)
        data = {
            "outcome": outcome,
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


def lesson_citation(number: int) -> str:
    return Lesson(pk=number).citation


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
        "superseded_by": lesson_citation(row.superseded_by_id) if row.superseded_by_id else None,
    }

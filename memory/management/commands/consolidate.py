"""`crew consolidate`: list what waits to become memory, or run it now. Parses, calls one function, prints."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.core.management.base import CommandError
from django.utils import timezone

from crewsite.accounts.console import MemoryCommand, wait_for_embedder
from crewsite.conversations.models import Conversation
from crewsite.jobs.console import counted
from crewsite.llm.constants import CONNECT_HINT
from crewsite.llm.targets import model_name
from memory.consolidation.passes import pass_run
from memory.consolidation.pending import Pending, pending
from memory.models import ConsolidationReceipt

if TYPE_CHECKING:
    import argparse

    from memory.consolidation.outcomes import PassOutcome

PATHS: Final = (ConsolidationReceipt.Path.PREFERENCES, ConsolidationReceipt.Path.HISTORY)
WAITS_FOR_MODEL: Final = f"Consolidation waits for a model. {CONNECT_HINT}"


class Command(MemoryCommand):
    help = "List the conversations that wait for consolidation, or consolidate them now."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("conversation", nargs="?", help="id of a conversation; none: list what waits")
        parser.add_argument("--all", action="store_true", help="every conversation of the list")
        parser.add_argument("--path", choices=[str(path) for path in PATHS], help="only this path")
        parser.add_argument("--dry-run", action="store_true", help="say what would be read; ask no model")
        parser.add_argument("--json", action="store_true", help="for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["conversation"] and options["all"]:
            raise CommandError("Name a conversation or --all, not both.", returncode=2)
        paths = [path for path in PATHS if options["path"] in {None, path}]
        if options["conversation"]:
            wanted = [(_conversation(options["conversation"]), str(path)) for path in paths]
        elif options["all"]:
            wanted = [(row.conversation, row.path) for row in pending(timezone.now(), paths=paths)]
        else:
            self._list(pending(timezone.now(), paths=paths), options)
            return
        sys.exit(self._run(wanted, options))

    def _list(self, rows: list[Pending], options: dict[str, Any]) -> None:
        if options["json"]:
            report = {"model": model_name(), "pending": [_as_dict(row) for row in rows]}
            self.stdout.write(json.dumps(report, indent=2, ensure_ascii=False))
            return
        if not model_name():
            self.stderr.write(WAITS_FOR_MODEL)
        if not rows:
            self.say("Nothing waits for consolidation.", options)
            return
        columns = ["conversation", "path", "messages", "state", "title"]
        cells = [
            [
                str(row.conversation.pk),
                row.path,
                str(row.messages),
                "due" if row.ready else row.note,
                str(row.conversation),
            ]
            for row in rows
        ]
        self.table(columns, cells, options)

    def _run(self, wanted: list[tuple[Conversation, str]], options: dict[str, Any]) -> int:
        if not options["dry_run"]:
            wait_for_embedder()
        results = []
        failed = False
        for conversation, path in counted(wanted, "consolidating"):
            outcome = pass_run(
                conversation_id=conversation.pk, path=path, is_asked=True, is_dry=options["dry_run"]
            )
            failed = failed or outcome.state in {"failed", "no_model"}
            results.append(_outcome_as_dict(conversation, path, outcome))
            line = f"{conversation.pk}  {path}: {outcome.message}"
            self.say(line, options, error=outcome.state in {"failed", "no_model"} and not options["json"])
        if options["json"]:
            self.stdout.write(json.dumps(results, indent=2, ensure_ascii=False))
        elif not results:
            self.say("Nothing waits for consolidation.", options)
        return int(failed)


def _conversation(text: str) -> Conversation:
    try:
        row = Conversation.objects.filter(pk=UUID(text)).first()
    except ValueError:
        row = None
    if row is None:
        raise CommandError(f"There is no conversation {text!r}.")
    return row


def _as_dict(row: Pending) -> dict[str, Any]:
    return {
        "conversation": str(row.conversation.pk),
        "title": str(row.conversation),
        "path": row.path,
        "messages": row.messages,
        "last_message": row.last_seq,
        "due": row.ready,
        "note": row.note,
    }


def _outcome_as_dict(conversation: Conversation, path: str, outcome: PassOutcome) -> dict[str, Any]:
    receipt = outcome.receipt
    return {
        "conversation": str(conversation.pk),
        "path": path,
        "state": outcome.state,
        "message": outcome.message,
        "counts": receipt.counts if receipt else {},
        "refused": receipt.refused if receipt else [],
    }

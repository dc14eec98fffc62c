"""`crew memory`: look at what is remembered and why, search it, store, bring back, look back. Parses, calls
one service, prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.core.management.base import CommandError

from crewsite.accounts.console import MemoryCommand, add_verb, positive
from crewsite.search.degradation import in_words
from crewsite.security.models import MemoryEvent
from memory.constants import DEFAULT_IMPORTANCE
from memory.management.local import LocalMemory
from memory.management.printing import cell, story

if TYPE_CHECKING:
    import argparse

    from crewsite.accounts.models import Workspace
    from crewsite.accounts.server import Server
    from memory.management.remote import RemoteMemory

    Memory = LocalMemory | RemoteMemory

DEFAULT_LIMIT: Final = 20
CITATIONS: Final = "such as epi:412, sem:pref.editor (sem:412 for a row id), les:12, doc:preferences:3, his:7"


class Command(MemoryCommand):
    help = "Look at what is remembered and why, search it, add to it, bring it back."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        commands = parser.add_subparsers(
            dest="verb", required=True, metavar="list|search|show|explain|audit|as-of|stats|remember|restore"
        )
        listing = add_verb(commands, "list", "newest facts and episodes")
        listing.add_argument("--kind", choices=["semantic", "episodic"])
        listing.add_argument("--deleted", action="store_true", help="tombstones instead of live rows")
        listing.add_argument("--limit", type=positive, default=DEFAULT_LIMIT)
        search = add_verb(commands, "search", "facts, episodes and lessons by meaning and words")
        search.add_argument("query")
        search.add_argument("--limit", type=positive, default=DEFAULT_LIMIT)
        show = add_verb(commands, "show", "one row with all its fields")
        show.add_argument("id", help=CITATIONS)
        explain = add_verb(
            commands, "explain", "where a row came from, what replaced it, where it was injected"
        )
        explain.add_argument("id", help=CITATIONS)
        audit = add_verb(commands, "audit", "what happened to memory, newest first")
        audit.add_argument("id", nargs="?", default="", help=f"only of one row: {CITATIONS}")
        audit.add_argument("--event", choices=MemoryEvent.Event.values)
        audit.add_argument("--limit", type=positive, default=DEFAULT_LIMIT)
        as_of = add_verb(commands, "as-of", "facts and lessons as they stood at a moment")
        as_of.add_argument("moment", help="2026-03-10 (the end of that day) or 2026-03-10T14:30")
        add_verb(commands, "stats", "rows by layer")
        remember = add_verb(commands, "remember", "store an episode, or a fact with --key")
        remember.add_argument("text", help="the episode, or the value of the fact (text or JSON)")
        remember.add_argument("--key", help="name of the fact, such as pref.editor")
        remember.add_argument("--importance", type=float, default=DEFAULT_IMPORTANCE)
        remember.add_argument("--tag", action="append", default=[], dest="tags")
        restore = add_verb(commands, "restore", "bring back a deleted or superseded row")
        restore.add_argument("id", help=CITATIONS)

    def local(self, workspace: Workspace) -> LocalMemory:
        return LocalMemory(workspace)

    def remote(self, server: Server) -> RemoteMemory:
        from memory.management.remote import RemoteMemory

        return RemoteMemory(server)

    def _list(self, memory: Memory, options: dict[str, Any]) -> tuple[Any, int]:
        rows = memory.newest(kind=options["kind"], deleted=options["deleted"], limit=options["limit"])
        self._rows(rows, ["id", "created_at", "source", "text"], options, empty="Nothing is remembered yet.")
        return rows, 0

    def _search(self, memory: Memory, options: dict[str, Any]) -> tuple[Any, int]:
        if not options["query"].strip():
            raise CommandError("Say what to search for.", returncode=2)
        found = memory.search(query=options["query"], limit=options["limit"])
        columns = ["id", "score", "legs", "at", "text"]
        self._rows(found["hits"], columns, options, empty="Nothing found.")
        if found["degraded"]:
            self.stderr.write(f"The search was limited: {in_words(found['degraded'])}.")
        return found, 0

    def _show(self, memory: Memory, options: dict[str, Any]) -> tuple[Any, int]:
        data = memory.show(citation=options["id"])
        for name, value in data.items():
            self.say(f"{name:<20} {'' if value is None else value}".rstrip(), options)
        return data, 0

    def _explain(self, memory: Memory, options: dict[str, Any]) -> tuple[Any, int]:
        told = memory.explain(citation=options["id"])
        for name, text in story(told):
            self.say(f"{name:<14}{text}", options)
        return told.as_json(), 0

    def _audit(self, memory: Memory, options: dict[str, Any]) -> tuple[Any, int]:
        rows = memory.audit(citation=options["id"], event=options["event"], limit=options["limit"])
        columns = ["at", "event", "id", "source", "surface", "actor", "reason"]
        self._rows(rows, columns, options, empty="No such event is kept.")
        return rows, 0

    def _as_of(self, memory: Memory, options: dict[str, Any]) -> tuple[Any, int]:
        found = memory.as_of(moment=options["moment"])
        columns = ["id", "since", "until", "source", "text"]
        self._rows(found["rows"], columns, options, empty="No fact and no lesson stood then.")
        return found, 0

    def _stats(self, memory: Memory, options: dict[str, Any]) -> tuple[Any, int]:
        found = memory.stats()
        rows = [{"layer": name, **count} for name, count in found["layers"].items()]
        self._rows(rows, ["layer", "live", "deleted", "newest"], options, empty="")
        waiting = f"Episodes at most: {found['episodic_cap']}. Waiting for review: {found['open_reviews']}."
        self.say(waiting, options)
        return found, 0

    def _remember(self, memory: Memory, options: dict[str, Any]) -> tuple[Any, int]:
        result = memory.remember(
            text=options["text"],
            key=options["key"],
            importance=options["importance"],
            tags=options["tags"],
        )
        if dropped := result.pop("dropped_tags", ()):
            self.stderr.write(f"Not usable as tags: {', '.join(dropped)}.")
        return self._outcome(result, options)

    def _restore(self, memory: Memory, options: dict[str, Any]) -> tuple[Any, int]:
        return self._outcome(memory.restore(citation=options["id"]), options)

    def _outcome(self, result: dict[str, Any], options: dict[str, Any]) -> tuple[Any, int]:
        """A write's answer; refused: the reason on stderr and exit code 1."""
        refused = result["outcome"] == "refused"
        said = f"{result['outcome']} {result['id']}" + (f": {result['message']}" if result["message"] else "")
        answer = f"Refused ({result['code']}): {result['message']}" if refused else said
        self.say(answer, options, error=refused)
        return result, int(refused)

    def _rows(
        self, rows: list[dict[str, Any]], columns: list[str], options: dict[str, Any], *, empty: str
    ) -> None:
        if rows:
            self.table(columns, [[cell(row[column]) for column in columns] for row in rows], options)
        elif not options["json"]:
            self.stderr.write(empty)

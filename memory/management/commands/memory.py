"""`crew memory`: look at what is remembered and why, search it, store, bring back, look back. Parses, calls
one service, prints.
"""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING, Any, Final

from django.core.management.base import CommandError

from crewsite.accounts.console import (
    MemoryCommand,
    add_verb,
    cli_origin,
    positive,
    wait_for_embedder,
)
from crewsite.security.models import MemoryEvent
from memory import access
from memory.as_of import memory_as_of, moment_named
from memory.constants import DEFAULT_IMPORTANCE
from memory.explain import memory_explain
from memory.layers import memory_layers, row_cited
from memory.management.printing import (
    cell,
    event_as_dict,
    hit_as_dict,
    row_as_dict,
    standing_as_dict,
    story,
    when,
    whole_row_as_dict,
)
from memory.own_layers import EpisodicLayer, SemanticLayer
from memory.rules import parse_value
from memory.selectors import episodic_search, memory_stats, semantic_search
from memory.services import episodic_write, semantic_write

if TYPE_CHECKING:
    import argparse

    from crewsite.accounts.models import Workspace
    from memory.layers import MemoryLayer

DEFAULT_LIMIT: Final = 20
LISTED_LAYERS: Final = ("semantic", "episodic")
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
        search = add_verb(commands, "search", "facts and episodes by meaning and words")
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

    def _list(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        rows: list[dict[str, Any]] = []
        for layer in _listed(options["kind"]):
            chosen = layer.rows(workspace).filter(is_deleted=options["deleted"])
            newest = chosen.order_by("-created_at", "-pk")[: options["limit"]]
            rows += [row_as_dict(layer, row) for row in newest]
        rows = sorted(rows, key=lambda row: row["created_at"], reverse=True)[: options["limit"]]
        self._rows(rows, ["id", "created_at", "source", "text"], options, empty="Nothing is remembered yet.")
        return rows, 0

    def _search(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        wait_for_embedder()
        home, query, limit = workspace.home, options["query"], options["limit"]
        facts = semantic_search(home=home, query=query, limit=limit)
        episodes = episodic_search(home=home, query=query, limit=limit, mode="relevance")
        access.flush()
        degraded = sorted({*facts.degraded, *episodes.degraded})
        layers = [
            [hit_as_dict(SemanticLayer(), hit) for hit in facts.hits],
            [hit_as_dict(EpisodicLayer(), hit) for hit in episodes.hits],
        ]
        # Merged, so that the order within a layer stays. Each scales its scores by its own best row: equal
        # ones are told apart by what they rest on.
        rows = list(merge(*layers, key=_strength, reverse=True))[:limit]
        self._rows(rows, ["id", "score", "legs", "created_at", "text"], options, empty="Nothing found.")
        if degraded:
            self.stderr.write(f"Search is limited at the moment: {', '.join(degraded)}.")
        return {"hits": rows, "rung": episodes.rung or facts.rung, "degraded": degraded}, 0

    def _show(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        data = whole_row_as_dict(*_find(workspace, options["id"]))
        for name, value in data.items():
            self.say(f"{name:<20} {value}", options)
        return data, 0

    def _explain(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        layer, row = _find(workspace, options["id"])
        told = memory_explain(layer=layer, row=row)
        for name, text in story(told):
            self.say(f"{name:<14}{text}", options)
        return told.as_json(), 0

    def _audit(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        events = MemoryEvent.objects.filter(home_id__in={workspace.pk, workspace.home.pk})
        if options["id"]:
            layer, row = _find(workspace, options["id"])
            events = events.filter(memory_type=layer.name, object_id=row.pk)
        if options["event"]:
            events = events.filter(event=options["event"])
        rows = [event_as_dict(event) for event in events.order_by("-id")[: options["limit"]]]
        columns = ["at", "event", "layer", "row", "source", "surface", "actor", "reason"]
        self._rows(rows, columns, options, empty="No such event is kept.")
        return rows, 0

    def _as_of(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        moment = moment_named(options["moment"], workspace)
        if moment is None:
            raise CommandError("A moment reads like 2026-03-10 or 2026-03-10T14:30.")
        rows = [standing_as_dict(one) for one in memory_as_of(home=workspace.home, moment=moment)]
        columns = ["id", "since", "until", "source", "text"]
        self._rows(rows, columns, options, empty="No fact and no lesson stood then.")
        return {"moment": when(moment), "rows": rows}, 0

    def _stats(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        stats = memory_stats(workspace)
        rows = [
            {"layer": name, "live": count.live, "deleted": count.deleted, "newest": when(count.newest)}
            for name, count in stats.layers.items()
        ]
        self._rows(rows, ["layer", "live", "deleted", "newest"], options, empty="")
        if not options["json"]:
            self.stdout.write(
                f"Episodes at most: {stats.episodic_cap}. Waiting for review: {stats.open_reviews}."
            )
        layers = {row["layer"]: {key: row[key] for key in ("live", "deleted", "newest")} for row in rows}
        return {"layers": layers, "episodic_cap": stats.episodic_cap, "open_reviews": stats.open_reviews}, 0

    def _remember(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        home, origin = workspace.home, cli_origin()
        wait_for_embedder()
        result: Any
        if options["key"]:
            result = semantic_write(
                home=home, key=options["key"], value=parse_value(options["text"]), origin=origin
            )
        else:
            result = episodic_write(
                home=home,
                text=options["text"],
                importance=options["importance"],
                tags=options["tags"],
                origin=origin,
            )
        dropped = getattr(result, "dropped_tags", ())
        if dropped:
            self.stderr.write(f"Not usable as tags: {', '.join(dropped)}.")
        return self._outcome(result, options, SemanticLayer() if options["key"] else EpisodicLayer())

    def _restore(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        wait_for_embedder()
        layer, row = _find(workspace, options["id"])
        return self._outcome(layer.restore(row=row, origin=cli_origin()), options, layer)

    def _outcome(self, result: Any, options: dict[str, Any], layer: MemoryLayer) -> tuple[Any, int]:
        """A write's answer; refused: the reason on stderr and exit code 1."""
        row_id = layer.citation(result.row) if result.row is not None else None
        refused = result.outcome == "refused"
        said = f"{result.outcome} {row_id}" + (f": {result.message}" if result.message else "")
        answer = f"Refused ({result.code}): {result.message}" if refused else said
        self.say(answer, options, error=refused)
        data = {"outcome": result.outcome, "id": row_id, "code": result.code, "message": result.message}
        return data, int(refused)

    def _rows(
        self, rows: list[dict[str, Any]], columns: list[str], options: dict[str, Any], *, empty: str
    ) -> None:
        if rows:
            self.table(columns, [[cell(row[column]) for column in columns] for row in rows], options)
        elif not options["json"]:
            self.stderr.write(empty)


def _strength(row: dict[str, Any]) -> tuple[float, int, float]:
    return row["score"], len(row["legs"]), row["cosine"] or 0.0


def _listed(kind: str | None) -> list[MemoryLayer]:
    return [layer for layer in memory_layers() if layer.name in ({kind} if kind else LISTED_LAYERS)]


def _find(workspace: Workspace, citation: str) -> tuple[MemoryLayer, Any]:
    found = row_cited(workspace, citation)
    if found is None:
        raise CommandError(
            f"There is no {citation!r}. Ids look like epi:412, sem:pref.editor, les:12, doc:projects, his:7."
        )
    return found

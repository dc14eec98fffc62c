"""`crew memory`: look at facts and episodes, search them, store one, bring one back.
Parses, calls one service, prints.
"""

from __future__ import annotations

import json
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
from crewsite.security.text import clean
from memory import access
from memory.constants import DEFAULT_IMPORTANCE
from memory.models import EpisodicMemory, SemanticMemory
from memory.rules import parse_value
from memory.selectors import episodic_search, memory_stats, semantic_search
from memory.services import episodic_write, memory_restore, semantic_write

if TYPE_CHECKING:
    import argparse

    from crewsite.accounts.models import Workspace
    from memory.results import EpisodicHit, SemanticHit

DEFAULT_LIMIT: Final = 20
TEXT_COLUMN_CHARS: Final = 300


class Command(MemoryCommand):
    help = "Look at what is remembered, search it, add to it, bring it back."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        commands = parser.add_subparsers(
            dest="verb", required=True, metavar="list|search|show|stats|remember|restore"
        )
        listing = add_verb(commands, "list", "newest facts and episodes")
        listing.add_argument("--kind", choices=["semantic", "episodic"])
        listing.add_argument("--deleted", action="store_true", help="tombstones instead of live rows")
        listing.add_argument("--limit", type=positive, default=DEFAULT_LIMIT)
        search = add_verb(commands, "search", "facts and episodes by meaning and words")
        search.add_argument("query")
        search.add_argument("--limit", type=positive, default=DEFAULT_LIMIT)
        show = add_verb(commands, "show", "one row with where it came from")
        show.add_argument("id", help="such as epi:412 or sem:pref.editor; sem:412 for a row id")
        add_verb(commands, "stats", "rows by layer")
        remember = add_verb(commands, "remember", "store an episode, or a fact with --key")
        remember.add_argument("text", help="the episode, or the value of the fact (text or JSON)")
        remember.add_argument("--key", help="name of the fact, such as pref.editor")
        remember.add_argument("--importance", type=float, default=DEFAULT_IMPORTANCE)
        remember.add_argument("--tag", action="append", default=[], dest="tags")
        restore = add_verb(commands, "restore", "bring back a deleted or superseded row")
        restore.add_argument("id", help="such as epi:412; sem:412 for the row id of a fact")

    def _list(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        home, rows = workspace.home, []
        for model in _models(options["kind"]):
            chosen = model.all_objects.filter(home=home, is_deleted=options["deleted"])
            rows += [_as_dict(row) for row in chosen.order_by("-created_at", "-pk")[: options["limit"]]]
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
        rows = [*map(_hit_as_dict, facts.hits), *map(_hit_as_dict, episodes.hits)]
        # Each layer scales its scores by its own best row, so equal ones are told apart by what they rest on.
        rows.sort(key=lambda row: (row["score"], len(row["legs"]), row["cosine"] or 0.0), reverse=True)
        del rows[limit:]
        self._rows(rows, ["id", "score", "legs", "created_at", "text"], options, empty="Nothing found.")
        if degraded:
            self.stderr.write(f"Search is limited at the moment: {', '.join(degraded)}.")
        return {"hits": rows, "rung": episodes.rung or facts.rung, "degraded": degraded}, 0

    def _show(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        row = _find(workspace.home, options["id"])
        data = _as_dict(row, whole=True)
        if not options["json"]:
            for name, value in data.items():
                self.stdout.write(f"{name:<20} {value}")
        return data, 0

    def _stats(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        stats = memory_stats(workspace)
        rows = [
            {"layer": name, "live": count.live, "deleted": count.deleted, "newest": _when(count.newest)}
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
        return self._outcome(result, options)

    def _restore(self, workspace: Workspace, options: dict[str, Any]) -> tuple[Any, int]:
        wait_for_embedder()
        row = _find(workspace.home, options["id"])
        return self._outcome(memory_restore(row=row, origin=cli_origin()), options)

    def _outcome(self, result: Any, options: dict[str, Any]) -> tuple[Any, int]:
        """A write's answer; refused: the reason on stderr and exit code 1."""
        row_id = _row_id(result.row) if result.row is not None else None
        refused = result.outcome == "refused"
        answer = f"Refused ({result.code}): {result.message}" if refused else f"{result.outcome} {row_id}"
        self.say(answer, options, error=refused)
        data = {"outcome": result.outcome, "id": row_id, "code": result.code, "message": result.message}
        return data, int(refused)

    def _rows(
        self, rows: list[dict[str, Any]], columns: list[str], options: dict[str, Any], *, empty: str
    ) -> None:
        if rows:
            self.table(columns, [[_cell(row[column]) for column in columns] for row in rows], options)
        elif not options["json"]:
            self.stderr.write(empty)


def _models(kind: str | None) -> list[Any]:
    models = {"semantic": SemanticMemory, "episodic": EpisodicMemory}
    return [models[kind]] if kind else list(models.values())


def _find(home: Workspace, citation: str) -> Any:
    """A row by `epi:412`, `sem:412` or `sem:KEY`; tombstones too. Another home's rows do not exist here."""
    prefix, _, name = citation.partition(":")
    models: dict[str, Any] = {"sem": SemanticMemory, "epi": EpisodicMemory}
    row = None
    if prefix in models and name:
        rows = models[prefix].all_objects.filter(home=home).order_by("is_deleted", "-pk")
        if (pk := row_number(name)) is not None:
            row = rows.filter(pk=pk).first()
        elif prefix == "sem":
            row = rows.filter(key=clean(name)).first()
    if row is None:
        raise CommandError(f"There is no {citation!r}. Ids look like epi:412 or sem:pref.editor.")
    return row


def _row_id(row: Any) -> str:
    return f"sem:{row.key}" if isinstance(row, SemanticMemory) else f"epi:{row.pk}"


def _text(row: Any) -> str:
    if isinstance(row, SemanticMemory):
        return f"{row.key} = {json.dumps(row.value, ensure_ascii=False)}"
    return str(row.text)


def _as_dict(row: Any, *, whole: bool = False) -> dict[str, Any]:
    data = {
        # A tombstoned fact shares its key with others, so its row id names it.
        "id": f"sem:{row.pk}" if isinstance(row, SemanticMemory) and row.is_deleted else _row_id(row),
        "text": _text(row),
        "source": row.source,
        "created_at": _when(row.created_at),
    }
    if whole:
        names = ["uid", "updated_at", "is_deleted", "deleted_at", "deleted_reason", "conversation_id"]
        names += (
            ["confidence", "valid_from", "superseded_by_id"]
            if isinstance(row, SemanticMemory)
            else [
                "importance",
                "tags",
                "times_seen",
                "confirmed_at",
                "access_count",
                "possibly_supersedes_id",
            ]
        )
        data.update({name: getattr(row, name) for name in names})
    return data


def _hit_as_dict(hit: SemanticHit | EpisodicHit) -> dict[str, Any]:
    return {
        **_as_dict(hit.row),
        "score": round(hit.score, 4),
        "cosine": None if hit.cosine is None else round(hit.cosine, 4),
        "keyword": None if hit.keyword is None else round(hit.keyword, 4),
        "legs": list(hit.legs),
    }


def _when(moment: Any) -> str:
    return moment.isoformat(timespec="seconds") if moment else ""


def _cell(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, list) else str(value)
    return text[:TEXT_COLUMN_CHARS]

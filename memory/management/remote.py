"""What `crew memory` does on another site, over its REST API. Answers plain values, as `local` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from django.core.management.base import CommandError
from django.utils.dateparse import parse_datetime

from crewsite.accounts.console import row_number
from crewsite.accounts.server import Refusal, api_call, pages
from memory.explain import ConversationRef, ExplainedEvent, Explanation, Injection, ReadFrom
from memory.management.local import NO_MOMENT, NO_ROW, SEARCHED_KINDS
from memory.management.printing import event_row, hit_as_dict, row_prefixes, when
from memory.results import RowRef
from memory.rules import parse_value, render_value

if TYPE_CHECKING:
    from crewsite.accounts.server import Server

BAD_REQUEST: Final = 400
MISSING: Final = 404
REFUSED: Final = 422
SEARCH_ROWS: Final = 100  # the API's most for one search
ROW_PATHS: Final = {"episodic": "/memory/episodic/{}", "lesson": "/lessons/{}"}
EXPLAINED: Final = ("kind", "uid", "citation", "text", "state", "source", "surface", "author")


class RemoteMemory:
    def __init__(self, server: Server) -> None:
        self._server = server

    def newest(self, *, kind: str | None, deleted: bool, limit: int) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for name in (kind,) if kind else ("semantic", "episodic"):
            found = pages(self._server, f"/memory/{name}/", limit=limit, deleted=deleted or None)
            rows += [_brief(name, fields) for fields in found]
        return sorted(rows, key=lambda row: row["created_at"], reverse=True)[:limit]

    def search(self, *, query: str, limit: int) -> dict[str, Any]:
        kinds, most = ",".join(SEARCHED_KINDS), min(limit, SEARCH_ROWS)
        found = self._get("/memory/search", q=query, kinds=kinds, limit=most)
        return {"hits": [_hit(hit) for hit in found["hits"]], "degraded": found["degraded"]}

    def show(self, *, citation: str) -> dict[str, Any]:
        kind, number = self._find(citation)
        told = self._explained(citation, kind, number)
        head = {"id": told["citation"], "text": told["text"], "source": told["source"]}
        head["created_at"] = when(parse_datetime(told["since"]))
        if kind == "semantic":
            key = told["citation"].partition(":")[2]
            fields = {} if row_number(key) else self._get(f"/memory/semantic/{quote(key)}")
        else:
            fields = self._get(ROW_PATHS[kind].format(number)) if kind in ROW_PATHS else {}
        return {**fields, **head}

    def explain(self, *, citation: str) -> Explanation:
        return _explanation(self._explained(citation, *self._find(citation)))

    def audit(self, *, citation: str, event: str | None, limit: int) -> list[dict[str, Any]]:
        kind, number = self._find(citation) if citation else (None, None)
        found = pages(self._server, "/memory/events", limit=limit, event=event, kind=kind, id=number)
        return [_event(fields) for fields in found]

    def as_of(self, *, moment: str) -> dict[str, Any]:
        try:
            found = self._get("/memory/as-of", moment=moment)
        except Refusal as refusal:
            if refusal.status == BAD_REQUEST:
                raise CommandError(NO_MOMENT, returncode=2) from refusal
            raise
        return {"moment": _second(found["moment"]), "rows": [_standing(row) for row in found["rows"]]}

    def stats(self) -> dict[str, Any]:
        found = self._get("/memory/stats")
        layers = {
            name: {**count, "newest": _second(count["newest"])}
            for name, count in found["layers"].items()
            if name != "lesson"
        }
        cap = found["caps"]["episodic"]["cap"]
        return {"layers": layers, "episodic_cap": cap, "open_reviews": found["open_reviews"]}

    def remember(self, *, text: str, key: str | None, importance: float, tags: list[str]) -> dict[str, Any]:
        body: dict[str, Any]
        try:
            if key:
                body = {"key": key, "value": parse_value(text)}
                fact = api_call(self._server, "PUT", "/memory/semantic/", body=body)
                return _outcome(fact["outcome"], f"sem:{fact['fact']['key']}")
            body = {"text": text, "importance": importance, "tags": tags}
            made = api_call(self._server, "POST", "/memory/episodic/", body=body)
        except Refusal as refusal:
            return _refused(refusal)
        told = _outcome(made["outcome"], f"epi:{made['episode']['id']}")
        return {**told, "dropped_tags": made["dropped_tags"]}

    def restore(self, *, citation: str) -> dict[str, Any]:
        kind, number = self._find(citation)
        try:
            made = api_call(self._server, "POST", f"/memory/{kind}/{number}/restore", body={})
        except Refusal as refusal:
            if refusal.status == MISSING:
                raise CommandError(NO_ROW.format(citation)) from refusal
            return _refused(refusal)
        return _outcome(made["outcome"], made["citation"], made["message"])

    def _get(self, path: str, **query: Any) -> Any:
        return api_call(self._server, "GET", path, **query)

    def _find(self, citation: str) -> tuple[str, int]:
        """Layer and row id of a citation."""
        prefix, _, name = citation.strip("[]").partition(":")
        try:
            if prefix == "doc":
                return self._document(name)
            number = row_number(name)
            if number is None and prefix == "sem" and name:
                number = self._get(f"/memory/semantic/{quote(name)}")["id"]
        except Refusal as refusal:
            if refusal.status != MISSING:
                raise
            number = None
        kind = next((name for name, begins in row_prefixes().items() if begins == prefix), None)
        if number is None or kind is None:
            raise CommandError(NO_ROW.format(citation))
        return kind, number

    def _document(self, name: str) -> tuple[str, int]:
        kind, _, version = name.partition(":")
        if kind in {"preferences", "projects"}:
            rows = self._get(f"/memory/{kind}")["versions"]
            for row in rows:
                if str(row["version"]) == version or (not version and row["replaced_at"] is None):
                    return kind, row["id"]
        raise CommandError(NO_ROW.format(f"doc:{name}"))

    def _explained(self, citation: str, kind: str, number: int) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self._get(f"/memory/{kind}/{number}/explain")
        except Refusal as refusal:
            if refusal.status == MISSING:
                raise CommandError(NO_ROW.format(citation)) from refusal
            raise
        return found


def _second(moment: str | None) -> str:
    return when(parse_datetime(moment)) if moment else ""


def _brief(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    if kind == "semantic":
        citation = f"sem:{fields['id'] if fields['deleted_at'] else fields['key']}"
        text = f"{fields['key']}: {render_value(fields['value'])}"
    else:
        citation, text = f"epi:{fields['id']}", fields["text"]
    made = _second(fields["created_at"])
    return {"id": citation, "text": text, "source": fields["source"], "created_at": made}


def _hit(hit: dict[str, Any]) -> dict[str, Any]:
    at = parse_datetime(hit["at"]) if hit["at"] else None
    same = {name: hit[name] for name in ("citation", "text", "score", "legs")}
    return hit_as_dict(**same, at=at)


def _event(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "at": _second(fields["at"]),
        "event": fields["event"],
        "id": event_row(fields["kind"], fields["row"]),
        "layer": fields["kind"],
        "row": fields["row"],
        "old": fields["old_value"],
        "new": fields["new_value"],
        **{name: fields[name] for name in ("reason", "source", "surface", "actor")},
    }


def _standing(row: dict[str, Any]) -> dict[str, Any]:
    same = {name: row[name] for name in ("kind", "text", "source")}
    return {"id": row["citation"], **same, "since": _second(row["since"]), "until": _second(row["until"])}


def _outcome(outcome: str, citation: str | None, message: str = "", code: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "id": citation, "code": code, "message": message}


def _refused(refusal: Refusal) -> dict[str, Any]:
    if refusal.status not in {BAD_REQUEST, REFUSED}:
        raise refusal
    return _outcome("refused", None, str(refusal), refusal.code)


def _explanation(told: dict[str, Any]) -> Explanation:
    return Explanation(
        **{name: told[name] for name in EXPLAINED},
        object_id=told["id"],
        since=_moment(told["since"]),
        ended_at=_moment(told["ended_at"]) if told["ended_at"] else None,
        conversation=ConversationRef(**told["conversation"]) if told["conversation"] else None,
        receipts=tuple(ReadFrom(**row) for row in told["receipts"]),
        replaced_by=tuple(_ref(row) for row in told["replaced_by"]),
        replaces=tuple(_ref(row) for row in told["replaces"]),
        injections=tuple(
            Injection(_moment(row["at"]), ConversationRef(**row["conversation"]), row["rank"], row["score"])
            for row in told["injections"]
        ),
        events=tuple(ExplainedEvent(**{**row, "at": _moment(row["at"])}) for row in told["events"]),
    )


def _ref(row: dict[str, Any]) -> RowRef:
    return RowRef(row["citation"], row["id"], row["text"], _moment(row["at"]))


def _moment(text: str) -> Any:
    return parse_datetime(text)

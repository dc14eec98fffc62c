"""What an agent reports of its tool calls, in one shape whatever the agent: a name people understand, the
change to a file as a diff, the choices with the smallest first. Talks to nobody."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from crewsite.llm.constants import ACP_CHANGE_MAX_CHARS

Call = dict[str, Any]  # id, name, state (running, done, failed), args, result, changes

STATES: Final = {"completed": "done", "failed": "failed"}
KINDS: Final = {
    "read": "Read",
    "edit": "Edit",
    "delete": "Delete",
    "move": "Move",
    "search": "Search",
    "execute": "Run",
    "think": "Think",
    "fetch": "Fetch",
}
# The smallest permission first: it is what a page puts forward.
ORDER: Final = ("allow_once", "allow_always", "reject_once", "reject_always")


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer a person may give to a request for permission. `allows` says which way it goes."""

    id: str
    label: str
    allows: bool


def choices_of(options: Sequence[Any]) -> list[Choice]:
    ordered = sorted(
        options, key=lambda option: ORDER.index(option.kind) if option.kind in ORDER else len(ORDER)
    )
    return [Choice(o.option_id, o.name, o.kind.startswith("allow")) for o in ordered]


def call_of(known: Call | None, update: Any) -> Call:
    """The call as it stands with this update, which tells only what changed."""
    known = known or {}
    given = update.raw_input
    content = update.content or ()
    return {
        "id": update.tool_call_id,
        "name": _name(known, update),
        "state": STATES.get(update.status or "", known.get("state", "running")),
        "args": (given if isinstance(given, dict) else {}) or known.get("args", {}),
        "result": _texts(content) or known.get("result", ""),
        "changes": _changes(content) or known.get("changes", ""),
    }


def _name(known: Call, update: Any) -> str:
    """A path alone does not say what is done to it."""
    title = str(update.title or "").strip()
    verb = KINDS.get(update.kind or "", "")
    if not title:
        return str(known.get("name") or verb or "tool")
    is_path = "/" in title and " " not in title and "://" not in title
    return f"{verb or known.get('name', '')} {title}".strip() if is_path else title


def _texts(content: Sequence[Any]) -> str:
    found = (getattr(getattr(part, "content", None), "text", "") for part in content)
    return "\n".join(text for text in found if text)


def _changes(content: Sequence[Any]) -> str:
    """Changed files as unified diffs, cut where that gets long."""
    lines: list[str] = []
    for part in content:
        if getattr(part, "type", "") == "diff":
            old, new = (part.old_text or "").splitlines(), (part.new_text or "").splitlines()
            lines += [part.path, *list(difflib.unified_diff(old, new, lineterm="", n=2))[2:]]
    text = "\n".join(lines)
    if len(text) <= ACP_CHANGE_MAX_CHARS:
        return text
    return f"{text[:ACP_CHANGE_MAX_CHARS]}\n… {len(text) - ACP_CHANGE_MAX_CHARS:,} characters more"

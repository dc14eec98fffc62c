"""What a coding agent does by itself, as tool cards of its turn, and its requests for permission as questions
to the person."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crewsite.chat.permissions import Option, ask_person
from crewsite.chat.tool_rules import shortened, summary
from crewsite.security.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from crewsite.chat.permissions import ToolSink
    from crewsite.llm.acp_calls import Call, Choice


class AgentWatcher:
    def __init__(self, sink: ToolSink, turn_id: UUID) -> None:
        self._sink = sink
        self._turn_id = turn_id
        self._denied: set[str] = set()

    def tool(self, call: Call) -> None:
        """What was denied stays denied, whatever the agent calls its end."""
        card = _card(call)
        self._sink.add_tool({**card, "state": "denied"} if call["id"] in self._denied else card)

    async def permit(self, call: Call, choices: Sequence[Choice]) -> str | None:
        options = [Option(choice.id, choice.label, allows=choice.allows) for choice in choices]
        chosen = await ask_person(self._sink, self._turn_id, _card(call), options)
        if chosen is None or not chosen.allows:
            self._denied.add(call["id"])
        return chosen.id if chosen else None


def _card(call: Call) -> dict[str, Any]:
    """A change to files is shown line by line; it says more than the arguments and the result do."""
    changes = redact(call["changes"]).text
    args = "" if changes or not call["args"] else json.dumps(call["args"], ensure_ascii=False, default=str)
    result = shortened("\n\n".join(filter(None, [changes, redact(call["result"]).text])))
    return {
        **{name: call[name] for name in ("id", "name", "state")},
        "by_agent": True,  # no tool of ours: it is shown, and not told to the next model
        "args": {},
        "args_summary": summary(args),
        "result": result,
        "summary": changes or summary(result),
    }

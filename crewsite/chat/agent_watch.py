"""What a coding agent does by itself, as tool cards of its turn, and its requests for permission as questions
to the person."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crewsite.chat.constants import TOOL_SUMMARY_CHARS
from crewsite.chat.permissions import Option, ask_person
from crewsite.chat.tool_rules import shortened
from crewsite.security.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from crewsite.chat.permissions import ToolSink
    from crewsite.llm.acp_agent import Call, Choice


class AgentWatcher:
    def __init__(self, sink: ToolSink, turn_id: UUID) -> None:
        self._sink = sink
        self._turn_id = turn_id

    def tool(self, call: Call) -> None:
        self._sink.add_tool(_card(call))

    async def permit(self, call: Call, choices: Sequence[Choice]) -> str | None:
        options = [Option(choice.id, choice.label, allows=choice.allows) for choice in choices]
        chosen = await ask_person(self._sink, self._turn_id, _card(call), options)
        return chosen.id if chosen else None


def _card(call: Call) -> dict[str, Any]:
    args = json.dumps(call["args"], ensure_ascii=False, default=str)
    result = shortened(redact(call["result"]).text)
    return {
        **call,
        "by_agent": True,  # no tool of ours: it is shown, and not told to the next model
        "args": {},
        "args_summary": _line(args) if call["args"] else "",
        "result": result,
        "summary": _line(result),
    }


def _line(text: str) -> str:
    line = " ".join(redact(text[: TOOL_SUMMARY_CHARS * 4]).text.split())
    return line if len(line) <= TOOL_SUMMARY_CHARS else line[: TOOL_SUMMARY_CHARS - 1] + "…"

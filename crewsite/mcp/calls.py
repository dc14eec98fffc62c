"""One tool call from name and arguments to an answer: allowed, checked, limited in time and size, redacted,
recorded. Knows no protocol."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError

from crewsite.chat.constants import TOOL_TIMEOUT_S
from crewsite.chat.threads import in_database, in_tool_thread
from crewsite.chat.tool_rules import shortened
from crewsite.jobs.storage import store_refusal
from crewsite.mcp.catalogue import ToolSpec, all_tools, denied, tools_for
from crewsite.mcp.constants import ERROR_OUTCOMES, NOTE_MAX_CHARS
from crewsite.mcp.models import ToolCall
from crewsite.mcp.schema import WrongArguments
from crewsite.security.redaction import redact, redact_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crewsite.llm.tools import ToolResult
    from crewsite.mcp.callers import Caller

logger = logging.getLogger(__name__)
Outcome = ToolCall.Outcome


@dataclass(frozen=True, slots=True)
class Answer:
    """`data` always holds `text` too: some clients show a model nothing but the structured content."""

    text: str
    outcome: ToolCall.Outcome = Outcome.OK
    data: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def is_error(self) -> bool:
        return self.outcome != Outcome.OK

    @property
    def structured(self) -> dict[str, Any]:
        return {**self.data, "text": self.text}


async def tool_call(caller: Caller, name: str, arguments: Mapping[str, Any]) -> Answer:
    """Never raises: what goes wrong is an answer that says what to change."""
    started = time.monotonic()
    answer = await _answered(caller, name, arguments)
    spent_ms = int((time.monotonic() - started) * 1000)
    logger.info("%s called %s in %s: %s", caller.user, name, caller.workspace.slug, answer.outcome.value)
    await in_database(call_record, caller=caller, tool=name, answer=answer, duration_ms=spent_ms)
    return answer


async def _answered(caller: Caller, name: str, arguments: Mapping[str, Any]) -> Answer:
    spec = tools_for(caller).get(name)
    if spec is None:
        return _not_offered(caller, name)
    try:
        values = spec.parameters.read(arguments)
    except WrongArguments as wrong:
        return Answer(str(wrong), Outcome.INVALID, {"outcome": "invalid", "code": "arguments"}, "arguments")
    return await _limited(spec, caller, values)


def _not_offered(caller: Caller, name: str) -> Answer:
    known = all_tools().get(name)
    why = denied(caller, reads_only=known.reads_only) if known else ""
    if why:
        return Answer(f"{name} was not run. {why}", Outcome.DENIED, {"outcome": "denied"}, why)
    offered = ", ".join(tools_for(caller)) or "none"
    text = f"There is no tool {name[:100]!r} here. Offered: {offered}."
    return Answer(text, Outcome.INVALID, {"outcome": "unknown_tool"}, "unknown tool")


async def _limited(spec: ToolSpec, caller: Caller, values: dict[str, Any]) -> Answer:
    try:
        async with asyncio.timeout(TOOL_TIMEOUT_S):
            result = await in_tool_thread(spec.function, caller.context, **values)
    except TimeoutError:
        text = (
            f"{spec.name} took longer than {TOOL_TIMEOUT_S:.0f} s and was given up. Ask for less, or later."
        )
        return Answer(text, Outcome.TIMEOUT, {"outcome": "timeout"})
    except Exception as error:
        refusal = store_refusal(error)
        if refusal is not None:
            told = {"outcome": "refused", "code": refusal.code}
            return Answer(str(refusal), Outcome.REFUSED, told, refusal.code)
        logger.exception("The tool %s failed.", spec.name)
        kind = type(error).__name__
        return Answer(
            f"{spec.name} failed: {kind}. Try again later.", Outcome.FAILED, {"outcome": "failed"}, kind
        )
    return _from_result(result)


def _from_result(result: ToolResult) -> Answer:
    said = str(result.data.get("outcome", ""))
    return Answer(
        text=shortened(redact(result.text).text),
        outcome=Outcome.REFUSED if said in ERROR_OUTCOMES else Outcome.OK,
        data=redact_all(result.data),  # models read structured content too
        note=str(result.data.get("code") or said) if said in ERROR_OUTCOMES else "",
    )


def call_record(*, caller: Caller, tool: str, answer: Answer, duration_ms: int) -> None:
    """A ledger that cannot be written costs no answer: what a tool wrote has its own event already."""
    try:
        ToolCall.objects.create(
            user=caller.user,
            workspace=caller.workspace,
            token=caller.token,
            token_name=caller.token.name if caller.token else "",
            transport=caller.transport,
            client=caller.client,
            tool=tool[:100],
            outcome=answer.outcome,
            note=answer.note[:NOTE_MAX_CHARS],
            chars=len(answer.text),
            duration_ms=duration_ms,
        )
    except DatabaseError:
        logger.exception("The call of %s was not recorded.", tool[:100])

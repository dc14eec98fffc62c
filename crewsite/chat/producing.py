"""The answer of one turn, from memory or by a model, into its live text; and what it took, noted for the day.
When a turn runs, and what becomes of its rows, is the runner's."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from crewsite.chat.agent_watch import AgentWatcher
from crewsite.chat.memory_provider import answer_from_memory
from crewsite.chat.threads import in_database, in_tool_thread
from crewsite.llm import clients
from crewsite.llm.ahead import TextAhead
from crewsite.llm.errors import LlmError
from crewsite.llm.providers import load_library, model_for
from crewsite.llm.usage import price_of, usage_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crewsite.chat.live import LiveTurn
    from crewsite.chat.preparing import Prepared
    from crewsite.llm.targets import Target

logger = logging.getLogger(__name__)


async def produce(prepared: Prepared, live: LiveTurn, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the usage: `seconds`, and of a model its tokens, requests and `cost_usd` where that is known.
    `options` are settings of this call, such as a temperature. Raises LlmError."""
    clock = asyncio.get_running_loop().time
    started = clock()
    if prepared.target is None:
        await _from_memory(prepared, live)
        return {"seconds": round(clock() - started, 3)}
    owner = str(prepared.turn.conversation_id)
    note = partial(usage_record, model=prepared.target.name, purpose="chat")
    try:
        usage = await _by_model(prepared.target, prepared, live, options)
    except LlmError:
        await in_database(note, seconds=clock() - started, failed=True)
        if await clients.turn_failed(owner):
            logger.info("The model client of conversation %s was made anew after repeated failures.", owner)
        raise
    clients.turn_succeeded(owner)
    seconds = round(clock() - started, 3)
    cost = price_of(prepared.target, usage)
    tokens = {name: usage.get(name, 0) for name in ("input_tokens", "output_tokens")}
    await in_database(note, seconds=seconds, cost_usd=cost, **tokens)
    return {**usage, "seconds": seconds, **({} if cost is None else {"cost_usd": round(cost, 6)})}


async def _from_memory(prepared: Prepared, live: LiveTurn) -> None:
    text, calls = await in_tool_thread(answer_from_memory, prepared.context, prepared.text)
    for call in calls:
        live.add_tool(call)
    live.add_text(text)


async def _by_model(
    target: Target, prepared: Prepared, live: LiveTurn, options: Mapping[str, Any]
) -> dict[str, Any]:
    agent = await in_tool_thread(load_agent)
    watcher = AgentWatcher(live, prepared.turn.pk)
    ahead = TextAhead()
    owner = str(prepared.turn.conversation_id)
    model = model_for(target, owner=owner, watcher=watcher, ahead=ahead)
    prompt = agent.Prompt(
        instructions=prepared.instructions,
        history=prepared.history,
        text=prepared.text,
        rules=prepared.rules,
        with_text=prepared.with_text,
        added=prepared.added,
        options=options,
    )
    usage: dict[str, Any] = await agent.answer_by_model(model, prompt, prepared.context, live, ahead)
    if target.provider == "acp":
        # An agent does not say what it used; what the library makes of the words alone would be a guess.
        return {"finish_reason": usage["finish_reason"]}
    return usage


def load_agent() -> Any:
    """The module that talks to models, imported with all it needs."""
    load_library()
    return import_module("crewsite.chat.agent")

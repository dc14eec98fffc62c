"""A model call whose answer is a validated object. What is asked, and what becomes of it, is the caller's.

A tool call is asked for first. An answer in words is read if it is the object as JSON, whatever thinking or
fence surrounds it; otherwise the model is asked again in words, with the schema in front of it.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from crewsite.llm.acp_agent import close_agents
from crewsite.llm.clients import close_http_client
from crewsite.llm.constants import CONNECT_HINT, TOTAL_TIMEOUT_S
from crewsite.llm.errors import LlmError, explain
from crewsite.llm.providers import model_for
from crewsite.llm.targets import Target, target_of
from crewsite.llm.usage import price_of, usage_record

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.output import OutputSpec
    from pydantic_ai.usage import RunUsage

Schema = TypeVar("Schema", bound=BaseModel)

OUTPUT_RETRIES: Final = 2  # chapter 04, 4.3: validated, and asked again twice with what was wrong
NO_TOOLS_STATUSES: Final = frozenset({400, 404, 422, 501})
_ABOUT_TOOLS: Final = re.compile(r"\b(?:tool|function)", re.IGNORECASE)
_FENCED: Final = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Structured(Generic[Schema]):
    """`usage`: input_tokens, output_tokens and requests of all attempts that led to the answer."""

    output: Schema
    model: str
    usage: dict[str, int]


class _InWords(Exception):
    """The model answered with text that is not the object."""


def structured_call(
    *,
    schema: type[Schema],
    instructions: str,
    prompt: str,
    role: str = "default",
    purpose: str = "consolidation",
    timeout_s: float = TOTAL_TIMEOUT_S,
) -> Structured[Schema]:
    """Ask the model of a role, or a named one, for a `schema`. Blocks; call it outside of transactions.

    Raises LlmError: no model is connected, the endpoint failed, or no attempt gave a valid object.
    """
    target = target_of(role)
    if target is None:
        raise LlmError(CONNECT_HINT, retryable=False)
    started = time.monotonic()
    try:
        answer = asyncio.run(_ask(schema, instructions, prompt, target, timeout_s))
    except LlmError:
        usage_record(model=target.name, purpose=purpose, seconds=time.monotonic() - started, failed=True)
        raise
    usage_record(
        model=target.name,
        purpose=purpose,
        seconds=time.monotonic() - started,
        input_tokens=answer.usage["input_tokens"],
        output_tokens=answer.usage["output_tokens"],
        cost_usd=price_of(target, answer.usage),
    )
    return answer


async def _ask(
    schema: type[Schema], instructions: str, prompt: str, target: Target, timeout_s: float
) -> Structured[Schema]:
    model = model_for(target)
    try:
        async with asyncio.timeout(timeout_s):
            output, usage = await _by_tool_or_words(model, schema, instructions, prompt)
    except Exception as error:
        raise _explained(error) from error
    finally:
        await close_http_client()
        await close_agents()
    return Structured(output, target.name, usage)


async def _by_tool_or_words(
    model: Model, schema: type[Schema], instructions: str, prompt: str
) -> tuple[Schema, dict[str, int]]:
    from pydantic_ai.output import PromptedOutput, TextOutput, ToolOutput

    def read(text: str) -> Schema:
        return _read(schema, text)

    by_tool: OutputSpec[Schema] = [ToolOutput(schema, name=tool_name(schema)), TextOutput(read)]
    try:
        return await _run(model, by_tool, instructions, prompt)
    except _InWords:
        pass
    except LlmError as error:
        if not _refuses_tools(error):
            raise
    return await _run(model, PromptedOutput(schema), instructions, prompt)


async def _run(
    model: Model, output: OutputSpec[Schema], instructions: str, prompt: str
) -> tuple[Schema, dict[str, int]]:
    from pydantic_ai import Agent

    agent: Agent[None, Schema] = Agent(
        model, output_type=output, instructions=instructions or None, retries={"output": OUTPUT_RETRIES}
    )
    result = await agent.run(prompt)
    return result.output, _counted(result.usage)


def tool_name(schema: type[BaseModel]) -> str:
    """`HistoryPass` as `history_pass`: the name of the tool that takes the answer."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", schema.__name__).lower()


def _read(schema: type[Schema], text: str) -> Schema:
    fenced = _FENCED.search(text)
    try:
        return schema.model_validate_json(fenced[1] if fenced else text.strip())
    except ValidationError as error:
        raise _InWords from error


def _refuses_tools(error: LlmError) -> bool:
    return error.status in NO_TOOLS_STATUSES and _ABOUT_TOOLS.search(error.reason) is not None


def _counted(usage: RunUsage) -> dict[str, int]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "requests": usage.requests,
    }


def _explained(error: Exception) -> LlmError:
    """Of an answer that stayed wrong, the first rule it breaks; of the rest, what `explain` says."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, LlmError):
        if isinstance(cause, ValidationError):
            return LlmError(f"The model's answer breaks the schema: {_first_error(cause)}.", retryable=True)
        cause = cause.__cause__
    return explain(error)


def _first_error(error: ValidationError) -> str:
    found: dict[str, Any] = dict(error.errors(include_url=False, include_input=False)[0])
    place = ".".join(str(part) for part in found["loc"])
    return f"{place}: {found['msg']}" if place else str(found["msg"])

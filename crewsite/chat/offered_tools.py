"""The tools a model is offered in one turn: the plain functions of `CHAT_TOOLS`, held to time, size, mode
and workspace. Importing it loads pydantic-ai."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, get_type_hints

from django.conf import settings
from django.utils.module_loading import import_string
from pydantic_ai import RunContext, Tool, ToolFailed, ToolReturn

from crewsite.chat.constants import TOOL_TIMEOUT_S
from crewsite.chat.threads import in_tool_thread
from crewsite.chat.tool_rules import Rule, refused, shortened
from crewsite.llm.constants import TOOL_RETRIES
from crewsite.security.redaction import redact

if TYPE_CHECKING:
    from crewsite.chat.tool_rules import Rules
    from crewsite.llm.tools import ToolContext, ToolFunction, ToolResult

logger = logging.getLogger(__name__)


# Asks the person about one call, by its id, name and arguments; whether they allowed it.
Ask = Callable[[str, str, dict[str, Any]], Awaitable[bool]]
NOT_ALLOWED: Final = "The person did not allow this call."


def offered_tools(context: ToolContext, rules: Rules, ask: Ask | None = None) -> list[Tool[None]]:
    """Those that the site's rules approve, and with somebody to `ask` those that no rule names."""
    tools: list[Tool[None]] = []
    for function in map(import_string, settings.CHAT_TOOLS):
        rule = rules.of(function.__name__)
        if rule == Rule.APPROVED:
            tools.append(offered_tool(function, context))
        elif rule == Rule.ASK and ask is not None:
            tools.append(_asking(offered_tool(function, context), ask))
    return tools


def _asking(tool: Tool[None], ask: Ask) -> Tool[None]:
    """The same tool, once the person has said yes."""
    call: Any = tool.function

    async def asked(run: RunContext[None], **arguments: Any) -> Any:
        if not await ask(run.tool_call_id or "", tool.name, arguments):
            raise ToolFailed(NOT_ALLOWED)
        return await call(**arguments)

    schema = replace(tool.function_schema, function=asked, takes_ctx=True)
    return _tool(asked, tool.name, schema)


def offered_tool(function: ToolFunction, context: ToolContext) -> Tool[None]:
    """Wrap one function. The model sees every parameter but the first, which is ours."""
    name = function.__name__

    async def call(**arguments: Any) -> ToolReturn[str]:
        refusal = refused(name, context.conversation)
        if refusal:
            raise ToolFailed(refusal)
        result = await _limited(function, context, arguments)
        return ToolReturn(return_value=shortened(redact(result.text).text), metadata=result.data)

    return _tool(call, name, replace(_schema(function), function=call))


def _tool(call: Callable[..., Awaitable[Any]], name: str, schema: Any) -> Tool[None]:
    return Tool(
        call, name=name, max_retries=TOOL_RETRIES, include_return_schema=False, function_schema=schema
    )


@cache
def _schema(function: ToolFunction) -> Any:
    """What the model sees of a function. Reading it off takes milliseconds, and it never changes."""

    async def call(**_: Any) -> None: ...

    hints = get_type_hints(function)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    call.__name__ = function.__name__
    call.__doc__ = function.__doc__
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name]) for p in parameters]
    )
    call.__annotations__ = {p.name: hints[p.name] for p in parameters}
    return Tool(call, takes_ctx=False).function_schema


async def _limited(function: ToolFunction, context: ToolContext, arguments: dict[str, Any]) -> ToolResult:
    """The tool's result; a tool that is late or breaks costs its own result, not the turn."""
    try:
        async with asyncio.timeout(TOOL_TIMEOUT_S):
            return await in_tool_thread(function, context, **arguments)
    except TimeoutError:
        raise ToolFailed(f"The tool took longer than {TOOL_TIMEOUT_S:.0f} s and was given up.") from None
    except Exception as error:
        logger.exception("The tool %s failed.", function.__name__)
        raise ToolFailed(f"The tool failed: {type(error).__name__}.") from error

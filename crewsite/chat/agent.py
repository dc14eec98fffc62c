"""One answer by a connected model: the packet as instructions, the conversation as native history, tools on
offer, and the stream as text and tool events. Importing it loads pydantic-ai."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from pydantic_ai import Agent
from pydantic_ai.messages import (
    AgentStreamEvent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import UsageLimits

from crewsite.chat.constants import ANSWER_MAX_CHARS, TOOL_ARGUMENTS_MAX_CHARS, TOOL_SUMMARY_CHARS
from crewsite.chat.offered_tools import offered_tools
from crewsite.chat.permissions import ask_person
from crewsite.chat.tool_rules import summary
from crewsite.conversations.models import Message
from crewsite.llm.constants import MAX_MODEL_REQUESTS, TOOL_RETRIES, TOTAL_TIMEOUT_S
from crewsite.llm.errors import empty_answer, endless_answer, explain
from memory.context.constants import MARKER_USER_MESSAGE

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Mapping, Sequence
    from uuid import UUID

    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from crewsite.chat.tool_rules import Rules
    from crewsite.llm.ahead import TextAhead
    from crewsite.llm.tools import ToolContext


class Sink(Protocol):
    """Where an answer goes while it is made."""

    def add_text(self, text: str) -> None: ...

    def add_tool(self, call: dict[str, Any]) -> None: ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model gets: `instructions` (the packet's opening), what was said before, and the person's own
    text last. `added` is what memory added to messages, by their id; `with_text` to the text. `rules` say
    which tools are on offer."""

    instructions: str
    history: Sequence[Message]
    text: str
    rules: Rules
    with_text: str = ""
    added: Mapping[int, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


async def answer_by_model(
    model: Model, prompt: Prompt, context: ToolContext, sink: Sink, ahead: TextAhead
) -> dict[str, Any]:
    """Run the agent to its end and return the usage. `ahead` is the model's, or told nothing. Raises LlmError
    with a readable reason."""
    stream = _Stream(sink, context.turn_id, ahead)
    agent = Agent(
        model,
        instructions=prompt.instructions or None,
        tools=offered_tools(context, prompt.rules, stream.ask),
        retries={"tools": TOOL_RETRIES, "output": 0},
    )
    try:
        result = await agent.run(
            with_added(prompt.with_text, prompt.text),
            message_history=native_history(prompt.history, prompt.added),
            event_stream_handler=stream.handle,
            usage_limits=UsageLimits(request_limit=MAX_MODEL_REQUESTS),
            model_settings=cast("ModelSettings", dict(prompt.options)),
            timeout=TOTAL_TIMEOUT_S,
        )
    except Exception as error:
        raise explain(error) from error
    if not stream.wrote:
        raise empty_answer()
    usage = result.usage
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cache_read_tokens,
        "requests": usage.requests,
        "tool_calls": usage.tool_calls,
        "finish_reason": result.response.finish_reason or "stop",
    }


def with_added(added: str, text: str) -> str:
    """The person's own text last, unaltered, behind what memory added to it."""
    return f"{added}\n\n{MARKER_USER_MESSAGE}\n{text}" if added else text


def native_history(messages: Sequence[Message], added: Mapping[int, str] | None = None) -> list[ModelMessage]:
    """The transcript as the model's own messages. Tool calls come back with their results, before the
    text."""
    added = added or {}
    history: list[ModelMessage] = []
    for message in messages:
        if message.role == Message.Role.USER:
            said = with_added(added.get(message.pk, ""), message.content)
            history.append(ModelRequest(parts=[UserPromptPart(content=said)]))
        elif message.role == Message.Role.ASSISTANT:
            calls = [call for call in message.tool_calls if call.get("state") in {"done", "failed", "denied"}]
            calls = [call for call in calls if not call.get("by_agent")]
            if calls:
                history.append(ModelResponse(parts=[_call_part(call) for call in calls]))
                history.append(ModelRequest(parts=[_return_part(call) for call in calls]))
            if message.content:
                history.append(ModelResponse(parts=[TextPart(content=message.content)]))
    return history


def _call_part(call: dict[str, Any]) -> ToolCallPart:
    return ToolCallPart(tool_name=call["name"], args=call.get("args") or {}, tool_call_id=call["id"])


def _return_part(call: dict[str, Any]) -> ToolReturnPart:
    return ToolReturnPart(tool_name=call["name"], content=call.get("result", ""), tool_call_id=call["id"])


class _Stream:
    """Turns the agent's events into text and tool calls, with a blank line between text before and after a
    tool."""

    def __init__(self, sink: Sink, turn_id: UUID | None, ahead: TextAhead) -> None:
        self.sink = sink
        self.turn_id = turn_id
        self.ahead = ahead
        ahead.listener = self._text
        self.denied: set[str] = set()
        self.wrote = False  # anything but blanks
        self.room = ANSWER_MAX_CHARS
        self.calls: dict[str, dict[str, Any]] = {}
        self._parted = False

    async def handle(self, _context: Any, events: AsyncIterable[AgentStreamEvent]) -> None:
        async for event in events:
            match event:
                case (
                    PartStartEvent(part=TextPart(content=text))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                ):
                    self._text(self.ahead.untold(text))
                case FunctionToolCallEvent(part=part):
                    self._called(part)
                case FunctionToolResultEvent(part=part):
                    self._returned(part)
                case _:
                    pass

    async def ask(self, call_id: str, name: str, args: dict[str, Any]) -> bool:
        """Whether the person allows a call. Nobody to ask is a no."""
        call = self.calls.setdefault(call_id, _call(call_id, name, args))
        chosen = await ask_person(self.sink, self.turn_id, call) if self.turn_id else None
        allowed = chosen is not None and chosen.allows
        if not allowed:
            self.denied.add(call_id)
        return allowed

    def _text(self, text: str) -> None:
        if not text:
            return
        if self._parted and self.wrote:
            self.sink.add_text("\n\n")
        self._parted = False
        self.wrote = self.wrote or bool(text.strip())
        self.sink.add_text(text[: self.room])
        self.room -= len(text)
        if self.room < 0:
            raise endless_answer(ANSWER_MAX_CHARS)

    def _called(self, part: ToolCallPart) -> None:
        self._parted = True
        call = _call(part.tool_call_id, part.tool_name, _arguments(part))
        self.calls[part.tool_call_id] = call
        self.sink.add_tool(call)

    def _returned(self, part: ToolReturnPart) -> None:
        text = part.content if isinstance(part.content, str) else part.model_response_str()
        done = part.outcome == "success"
        call = {
            **self.calls.get(
                part.tool_call_id, {"id": part.tool_call_id, "name": part.tool_name, "args_summary": ""}
            ),
            "state": "done" if done else "denied" if part.tool_call_id in self.denied else "failed",
            "result": text,
            "summary": summary(text),
            "data": part.metadata if done and isinstance(part.metadata, dict) else {},
        }
        self.sink.add_tool(call)


def _call(call_id: str, name: str, args: dict[str, Any]) -> dict[str, Any]:
    """A tool call as it is shown and kept, before its result."""
    shown = summary(json.dumps(args, ensure_ascii=False, default=str))
    return {"id": call_id, "name": name, "state": "running", "args": args, "args_summary": shown}


def _arguments(part: ToolCallPart) -> dict[str, Any]:
    """The arguments as far as they are JSON at all; the model may have sent anything."""
    text = str(part.args)
    try:
        if len(text) <= TOOL_ARGUMENTS_MAX_CHARS:
            return part.args_as_dict(raise_if_invalid=True)
    except (ValueError, AssertionError, RecursionError):
        return {"unreadable": text[:TOOL_SUMMARY_CHARS]}
    return {"too_long": text[:TOOL_SUMMARY_CHARS]}

"""An agent process as a model: the prompt as one text, its answer as a stream. Importing it loads
pydantic-ai."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from crewsite.llm.acp_agent import Unwatched, Watcher, agent_answer
from crewsite.llm.constants import ACP_FIRST_TEXT_TIMEOUT_S, TOTAL_TIMEOUT_S
from crewsite.llm.errors import empty_answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pydantic_ai.messages import ModelMessage

    from crewsite.llm.acp_calls import Call, Choice
    from crewsite.llm.targets import Target


WORDLESS: Final = "The agent finished without a word."
GAVE_UP: Final = "The agent stopped here, because that was not allowed."


def acp_model(target: Target, *, owner: str, watcher: Watcher | None) -> FunctionModel:
    """An agent has its own tools; those of the site are not offered to it."""

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        wrote = False
        watching = _Noting(watcher or Unwatched())
        text = prompt_text(info.instructions or "", messages)
        async for piece in agent_answer(target.model, text, owner=owner, watcher=watching):
            if piece:
                wrote = True
                yield piece
        if not wrote and watching.end is None:
            raise empty_answer()
        if not wrote:
            yield f"*{watching.end}*"

    async def whole(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("".join([piece async for piece in stream(messages, info)]))])

    return FunctionModel(
        whole,
        stream_function=stream,
        model_name=target.name,
        profile=ModelProfile(supports_tools=False),
        settings=ModelSettings(first_event_timeout=ACP_FIRST_TEXT_TIMEOUT_S, request_timeout=TOTAL_TIMEOUT_S),
    )


class _Noting:
    """Passes everything on, and knows how to say what an agent did that ended without a word."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self.end: str | None = None

    def tool(self, call: Call) -> None:
        self.end = self.end or WORDLESS
        self._watcher.tool(call)

    async def permit(self, call: Call, choices: Sequence[Choice]) -> str | None:
        chosen = await self._watcher.permit(call, choices)
        allowed = any(choice.allows for choice in choices if choice.id == chosen)
        self.end = WORDLESS if allowed else GAVE_UP
        return chosen


def prompt_text(instructions: str, messages: Sequence[ModelMessage]) -> str:
    """All that is said to an agent: the instructions, what was said before with its speakers, and the last
    message bare, so that a first message without instructions arrives as it was written."""
    lines = [line for message in messages for line in _lines(message)]
    *earlier, (_, last) = lines or [("Person", "")]
    parts = [instructions] if instructions else []
    if earlier:
        said = "\n\n".join(f"{speaker}: {text}" for speaker, text in earlier)
        parts.append(f"# The conversation so far\n\n{said}\n\n# Now")
    return "\n\n".join([*parts, last])


def _lines(message: ModelMessage) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for part in message.parts if isinstance(message, ModelRequest | ModelResponse) else ():
        match part:
            case UserPromptPart(content=str(text)) | SystemPromptPart(content=text):
                found.append(("Person", text))
            case TextPart(content=text):
                found.append(("You", text))
            case ToolReturnPart(tool_name=name):
                found.append((f"Result of {name}", part.model_response_str()))
            case RetryPromptPart():
                found.append(("Person", part.model_response()))
            case _:
                pass
    return found

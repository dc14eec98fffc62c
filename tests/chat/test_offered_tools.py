from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from pydantic_ai import ToolFailed

from crewsite.chat import offered_tools as module
from crewsite.chat.offered_tools import offered_tool, offered_tools
from crewsite.chat.tool_rules import Rules
from crewsite.conversations.models import Conversation
from crewsite.llm.tools import ToolContext, ToolResult
from tests.factories import make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db(transaction=True)


def echo(context: ToolContext, text: str, times: int = 1) -> ToolResult:
    """Say it again.

    Args:
        text: what to say
    """
    return ToolResult(text * times, {"by": context.user.username})


def memory_recall(context: ToolContext, query: str) -> ToolResult:
    """A reading tool of that name."""
    return ToolResult(f"nothing about {query}")


@pytest.fixture
def context(alice: User, home: Workspace) -> ToolContext:
    return ToolContext(home, alice, make_conversation(alice, home))


def in_mode(context: ToolContext, mode: Conversation.Mode) -> ToolContext:
    context.conversation.mode = mode
    return context


def test_the_model_sees_the_parameters_but_not_the_context(context: ToolContext) -> None:
    tool = offered_tool(echo, context)
    schema = tool.function_schema.json_schema
    assert set(schema["properties"]) == {"text", "times"}
    assert schema["required"] == ["text"]
    assert tool.description is not None
    assert "Say it again" in tool.description


async def test_a_tool_gets_our_context_and_gives_its_data(context: ToolContext) -> None:
    result = await offered_tool(echo, context).function(text="ab", times=2)
    assert (result.return_value, result.metadata) == ("abab", {"by": "alice"})


async def test_a_result_is_cut_at_16_000_characters_and_says_so(context: ToolContext) -> None:
    result = await offered_tool(echo, context).function(text="x" * 20_000)
    assert len(result.return_value) == 16_000
    assert result.return_value.endswith("may hold]")


async def test_a_secret_in_a_result_does_not_reach_the_model(context: ToolContext) -> None:
    result = await offered_tool(echo, context).function(text="ghp_" + "a1B2" * 9)
    assert "a1B2" not in result.return_value


async def test_a_tool_that_takes_too_long_is_given_up(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TOOL_TIMEOUT_S", 0.05)
    waiting = threading.Event()

    def slow(context: ToolContext) -> ToolResult:
        """Waits."""
        waiting.wait(5)
        return ToolResult("late")

    with pytest.raises(ToolFailed, match="took longer"):
        await offered_tool(slow, context).function()
    waiting.set()


async def test_a_tool_that_breaks_costs_its_own_result_and_shows_no_internals(context: ToolContext) -> None:
    def broken(context: ToolContext) -> ToolResult:
        """Breaks."""
        raise RuntimeError("password=hunter2-hunter2")

    with pytest.raises(ToolFailed) as raised:
        await offered_tool(broken, context).function()
    assert raised.value.message == "The tool failed: RuntimeError."


@pytest.mark.parametrize(
    ("mode", "may_read", "may_write"),
    [("persistent", True, True), ("incognito", True, False), ("temporary", False, False)],
)
async def test_the_mode_decides_what_tools_may_do(
    context: ToolContext, mode: str, may_read: bool, may_write: bool
) -> None:
    context = in_mode(context, Conversation.Mode(mode))
    for function, arguments, allowed in (
        (memory_recall, {"query": "x"}, may_read),
        (echo, {"text": "x"}, may_write),
    ):
        tool = offered_tool(function, context)
        if allowed:
            assert (await tool.function(**arguments)).return_value
        else:
            with pytest.raises(ToolFailed):
                await tool.function(**arguments)


def test_the_configured_tools_are_offered(context: ToolContext) -> None:
    names = [tool.name for tool in offered_tools(context, Rules.live())]
    assert names == ["learn_add", "learn_list", "learn_remove", "memory_recall", "memory_remember"]

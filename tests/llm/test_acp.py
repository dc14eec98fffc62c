"""A real agent process over the official SDK: its answer, its tools, its questions, its end."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pydantic_ai import Agent

from crewsite.llm import acp_agent
from crewsite.llm.acp_agent import Watcher, close_agents
from crewsite.llm.errors import LlmError, explain
from crewsite.llm.providers import model_for
from crewsite.llm.targets import Target

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from crewsite.llm.acp_calls import Call, Choice

COMMAND = f"{sys.executable} {Path(__file__).resolve().parents[1] / 'acp_agent.py'}"


class Person:
    """Looks on, and answers every question the same way."""

    def __init__(self, says: str | None = None) -> None:
        self.says = says
        self.calls: list[Call] = []
        self.asked: list[tuple[str, Sequence[Choice]]] = []

    def tool(self, call: Call) -> None:
        self.calls.append(call)

    async def permit(self, call: Call, choices: Sequence[Choice]) -> str | None:
        self.asked.append((call["name"], choices))
        return self.says


@pytest.fixture(autouse=True)
async def no_agent_is_left(settings: SettingsWrapper, tmp_path: Path) -> AsyncIterator[None]:
    settings.CREW_HOME = tmp_path
    yield
    await close_agents()


async def ask(
    text: str, *, owner: str = "one", watcher: Watcher | None = None, command: str = COMMAND
) -> str:
    target = Target("agent", "agent", "acp", command)
    try:
        async with Agent(model_for(target, owner=owner, watcher=watcher)).run_stream(text) as result:
            return await result.get_output()
    except Exception as error:
        raise explain(error) from error


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


async def gone(pid: int) -> bool:
    for _ in range(60):
        if not runs(pid):
            return True
        await asyncio.sleep(0.1)
    return False


async def test_an_agent_that_logs_endless_lines_is_not_blocked_by_them() -> None:
    async with asyncio.timeout(20):
        assert "shout" in await ask("shout please")


async def test_the_answer_streams_and_the_process_stays_for_its_conversation() -> None:
    first = (await ask("hello there")).split()
    assert first[0] == "agent"
    assert first[2:] == ["session-1", "heard:", "hello", "there"]
    second = (await ask("again")).split()
    assert second[1] == first[1]
    assert second[2] == "session-2"
    other = (await ask("hello", owner="two")).split()
    assert other[1] != first[1]
    await close_agents()
    assert await gone(int(first[1]))
    assert await gone(int(other[1]))


async def test_what_the_agent_does_is_shown() -> None:
    person = Person()
    await ask("use-tool", watcher=person)
    assert [(call["name"], call["state"]) for call in person.calls] == [
        ("Read the log", "running"),
        ("Read the log", "done"),
    ]
    assert person.calls[-1]["args"] == {"path": "/log"}
    assert person.calls[-1]["result"] == "42 lines"


@pytest.mark.parametrize(("says", "told"), [("yes", "[yes]"), ("no", "[no]"), (None, "[cancelled]")])
async def test_a_person_decides_what_asks_first(says: str | None, told: str) -> None:
    person = Person(says)
    assert told in await ask("ask-first", watcher=person)
    (name, choices) = person.asked[0]
    assert name == "Delete the log"
    assert [(choice.label, choice.allows) for choice in choices] == [
        ("Do it once", True),
        ("Leave it", False),
    ]


@pytest.mark.parametrize(("says", "told"), [("yes", "without a word"), ("no", "was not allowed")])
async def test_an_agent_that_acts_and_says_nothing_is_told_of(says: str, told: str) -> None:
    assert told in await ask("ask-first and then nothing", watcher=Person(says))


async def test_with_nobody_to_ask_nothing_is_allowed() -> None:
    assert "[cancelled]" in await ask("ask-first")


async def test_an_agent_that_ends_early_says_what_it_said_last() -> None:
    with pytest.raises(LlmError) as raised:
        await ask("crash")
    assert raised.value.retryable
    assert "ended before it answered" in raised.value.reason


async def test_an_agent_that_says_nothing_gave_no_answer() -> None:
    with pytest.raises(LlmError, match="nothing"):
        await ask("nothing")


async def test_a_stop_ends_the_agent_and_what_it_started() -> None:
    pieces: list[str] = []

    async def read() -> None:
        async for piece in acp_agent.agent_answer(COMMAND, "child sleep", owner="one", watcher=Person()):
            pieces.append(piece)  # noqa: PERF401 - looked at while it grows

    reading = asyncio.create_task(read())
    async with asyncio.timeout(20):
        while len(pieces) < 2:
            await asyncio.sleep(0.05)
    child, agent = int(pieces[0].split()[1]), int(pieces[1].split()[1])
    assert runs(child)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await gone(agent)
    assert await gone(child)


async def test_an_idle_agent_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acp_agent, "ACP_IDLE_S", 0.05)
    assert await gone(int((await ask("hello")).split()[1]))


async def test_no_agent_is_started_where_commands_are_off(settings: SettingsWrapper) -> None:
    settings.CREW_LOCAL_COMMANDS = False
    with pytest.raises(LlmError, match="runs no commands"):
        await ask("hello")


async def test_a_missing_program_is_named() -> None:
    with pytest.raises(LlmError, match="no-such-agent"):
        await ask("hello", command="no-such-agent --acp")


async def test_an_agent_sees_none_of_the_sites_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREW_SECRET_KEY", "hidden")
    monkeypatch.setenv("DATABASE_URL", "hidden")
    assert "hidden" not in acp_agent._environment().values()
    assert "PATH" in os.environ

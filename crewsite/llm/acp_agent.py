"""Coding agents as processes of this machine, spoken to over the Agent Client Protocol: started when they are
needed, kept for their conversation while it is lively, ended with everything they started."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import shlex
import signal
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from django.conf import settings

from crewsite.llm.acp_calls import Call, Choice, call_of, choices_of
from crewsite.llm.constants import ACP_IDLE_S, ACP_LINE_MAX_BYTES, ACP_START_TIMEOUT_S
from crewsite.llm.errors import LlmError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

logger = logging.getLogger(__name__)

STDERR_LINES_KEPT = 20
END_WAIT_S = 2.0


class Watcher(Protocol):
    """Who sees what an agent does by itself. `permit` answers the id of a choice, or None for no answer."""

    def tool(self, call: Call) -> None: ...

    async def permit(self, call: Call, choices: Sequence[Choice]) -> str | None: ...


class Unwatched:
    """Nobody looks: what asks for permission is denied."""

    def tool(self, call: Call) -> None:
        return None

    async def permit(self, call: Call, choices: Sequence[Choice]) -> str | None:
        return None


def check_allowed() -> None:
    """Raises LlmError where this site may not run commands."""
    if not settings.CREW_LOCAL_COMMANDS:
        raise LlmError(
            "This site runs no commands of its machine, so no agent. CREW_LOCAL_COMMANDS=1 allows it.",
            retryable=False,
        )


class AgentClient:
    """Our side of the protocol: text goes on, tool calls are shown, permissions are asked for. No files and
    no terminal are offered: an agent uses its own."""

    def __init__(self) -> None:
        self.watcher: Watcher = Unwatched()
        self.texts: asyncio.Queue[str | None] = asyncio.Queue()
        self.calls: dict[str, dict[str, Any]] = {}

    def begin(self, watcher: Watcher) -> None:
        self.watcher, self.texts, self.calls = watcher, asyncio.Queue(), {}

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        match update.session_update:
            case "agent_message_chunk":
                self.texts.put_nowait(str(getattr(update.content, "text", "") or ""))
            case "tool_call" | "tool_call_update":
                self._tool(update)
            case _:
                pass

    async def request_permission(self, session_id: str, tool_call: Any, options: list[Any], **_: Any) -> Any:
        from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse

        choices = choices_of(options)
        chosen = await self.watcher.permit(self._call(tool_call), choices)
        if chosen is None or chosen not in {choice.id for choice in choices}:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    def on_connect(self, _agent: Any) -> None:
        return None

    def _tool(self, update: Any) -> None:
        self.watcher.tool(self._call(update))

    def _call(self, update: Any) -> Call:
        call = call_of(self.calls.get(update.tool_call_id), update)
        self.calls[update.tool_call_id] = call
        return call


@dataclass(slots=True)
class AgentProcess:
    """One running agent. `prompt` starts a session of its own for each turn: what a turn may know is what the
    site says, not what the agent kept of an earlier one."""

    command: str
    client: AgentClient
    process: asyncio.subprocess.Process
    connection: Any
    said: deque[str] = field(default_factory=lambda: deque(maxlen=STDERR_LINES_KEPT))
    reader: asyncio.Task[None] | None = None
    idle: asyncio.TimerHandle | None = None
    is_busy: bool = False

    @property
    def is_alive(self) -> bool:
        return self.process.returncode is None

    async def prompt(self, text: str, watcher: Watcher) -> AsyncIterator[str]:
        from acp import text_block

        self.client.begin(watcher)
        session = await self.connection.new_session(cwd=str(workplace()), mcp_servers=[])
        asking = asyncio.create_task(
            self.connection.prompt(session_id=session.session_id, prompt=[text_block(text)])
        )
        texts = self.client.texts
        asking.add_done_callback(lambda _task: texts.put_nowait(None))
        try:
            while (piece := await texts.get()) is not None:
                yield piece
            self._judge(await asking)
        finally:
            if not asking.done():
                with contextlib.suppress(Exception):
                    await self.connection.cancel(session_id=session.session_id)
                asking.cancel()

    def _judge(self, response: Any) -> None:
        if response.stop_reason == "refusal":
            raise LlmError("The agent refused to answer.", retryable=False)

    async def close(self) -> None:
        """End the process, and the group of processes it started."""
        if self.idle is not None:
            self.idle.cancel()
        with contextlib.suppress(Exception):
            await self.connection.close()
        _signal(self.process, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), END_WAIT_S)
        _signal(self.process, signal.SIGKILL)
        await self.process.wait()
        if self.reader is not None:
            self.reader.cancel()


_agents: WeakKeyDictionary[Any, dict[str, AgentProcess]] = WeakKeyDictionary()


async def agent_answer(command: str, text: str, *, owner: str, watcher: Watcher) -> AsyncIterator[str]:
    """The pieces of an agent's answer. Its process stays for the conversation `owner`; without one, and
    after a failure or a stop, it is ended. Raises LlmError."""
    check_allowed()
    agent = await _agent_for(command, owner)
    agent.is_busy = True
    went_well = False
    try:
        async for piece in agent.prompt(text, watcher):
            yield piece
        went_well = True
    except LlmError:
        raise
    except Exception as error:
        raise _explained(error, agent) from error
    finally:
        agent.is_busy = False
        if went_well and owner:
            agent.idle = asyncio.get_running_loop().call_later(ACP_IDLE_S, _end_idle, owner, agent)
        else:
            await asyncio.shield(_drop(owner, agent))


async def close_agents() -> None:
    """End every agent of the running loop."""
    for agent in _agents.pop(asyncio.get_running_loop(), {}).values():
        await agent.close()


def kill_all() -> None:
    """As this process ends: no time to be polite."""
    for agents in list(_agents.values()):
        for agent in agents.values():
            if agent.is_alive:
                _signal(agent.process, signal.SIGKILL)


atexit.register(kill_all)


def workplace() -> Path:
    """The folder agents work in."""
    folder: Path = settings.CREW_HOME / "agents"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


async def _agent_for(command: str, owner: str) -> AgentProcess:
    mine = _agents.setdefault(asyncio.get_running_loop(), {})
    agent = mine.get(owner)
    if agent is not None and agent.idle is not None:
        agent.idle.cancel()
    if agent is not None and agent.is_alive and agent.command == command and not agent.is_busy:
        return agent
    if agent is not None:
        await _drop(owner, agent)
    agent = await _start(command)
    if owner:
        mine[owner] = agent
    return agent


async def _start(command: str) -> AgentProcess:
    import acp

    words = shlex.split(command)
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=workplace(),
            env=_environment(),
            limit=ACP_LINE_MAX_BYTES,
            start_new_session=True,
        )
    except (OSError, IndexError, ValueError) as error:
        raise LlmError(
            f"The agent cannot be started: {words[0] if words else 'no command'}: {error}.", retryable=False
        ) from None
    client = AgentClient()
    connection = acp.connect_to_agent(client, process.stdin, process.stdout)  # type: ignore[arg-type]
    agent = AgentProcess(command, client, process, connection)
    agent.reader = asyncio.create_task(_read_errors(process, agent.said))
    try:
        async with asyncio.timeout(ACP_START_TIMEOUT_S):
            await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
    except Exception as error:
        explained = _explained(error, agent)
        await agent.close()
        raise explained from error
    except BaseException:
        await asyncio.shield(agent.close())
        raise
    return agent


def _environment() -> dict[str, str]:
    """What an agent needs to run, without this site's own secrets."""
    ours = ("CREW_", "DATABASE_URL", "REDIS_URL", "DJANGO_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


async def _read_errors(process: asyncio.subprocess.Process, said: deque[str]) -> None:
    """Keeps a chatty agent from blocking on a full pipe; the last lines explain an early end."""
    while process.stderr is not None:
        try:
            line = await process.stderr.readline()
        except ValueError:  # longer than the limit; what was read of it is dropped
            continue
        if not line:
            return
        said.append(line.decode(errors="replace").rstrip())


def _end_idle(owner: str, agent: AgentProcess) -> None:
    if not agent.is_busy:
        agent.idle = None
        _ending.add(task := asyncio.ensure_future(_drop(owner, agent)))
        task.add_done_callback(_ending.discard)


_ending: set[asyncio.Future[None]] = set()  # a loop keeps only weak references to its tasks


async def _drop(owner: str, agent: AgentProcess) -> None:
    mine = _agents.get(asyncio.get_running_loop(), {})
    if mine.get(owner) is agent:
        del mine[owner]
    await agent.close()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _explained(error: Exception, agent: AgentProcess) -> LlmError:
    if isinstance(error, TimeoutError):
        return LlmError("The agent did not start in time.", retryable=True, counts=True)
    last = next((line for line in reversed(agent.said) if line.strip()), "")
    if not agent.is_alive or isinstance(error, ConnectionError):
        said = f" It said: {last}" if last else ""
        return LlmError(f"The agent ended before it answered.{said}", retryable=True, counts=True)
    return LlmError(f"The agent reported an error: {error}", retryable=True, counts=True)

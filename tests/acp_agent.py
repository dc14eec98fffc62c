"""A small agent on the official ACP SDK, as a process: it says back what it was sent, and does what a word in
the message asks for: `use-tool`, `ask-first`, `sleep`, `crash`, `child`, `shout`, `nothing`."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Any

from acp import (
    PROTOCOL_VERSION,
    Agent,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    run_agent,
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_tool_call,
)
from acp.schema import PermissionOption, ToolCallUpdate

OPTIONS = [
    PermissionOption(option_id="yes", name="Do it once", kind="allow_once"),
    PermissionOption(option_id="no", name="Leave it", kind="reject_once"),
]


class SmallAgent(Agent):
    def __init__(self) -> None:
        self.sessions = 0

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        self.sessions += 1
        return NewSessionResponse(session_id=f"session-{self.sessions}")

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        text = "".join(block.text for block in prompt)

        async def say(words: str) -> None:
            await self.client.session_update(session_id, update_agent_message_text(words))

        if "shout" in text:
            for _ in range(4):
                sys.stderr.write("x" * 12_000_000 + "\n")
            sys.stderr.flush()
        if "nothing" in text:
            if "ask-first" in text:
                await self.ask(session_id)
            return PromptResponse(stop_reason="end_turn")
        if "crash" in text:
            sys.stderr.write("the agent lost its way\n")
            sys.stderr.flush()
            os._exit(3)
        if "child" in text:
            child = subprocess.Popen(["sleep", "300"])
            await say(f"child {child.pid} ")
        await say(f"agent {os.getpid()} {session_id} heard: ")
        if "sleep" in text:
            await asyncio.sleep(300)
        if "use-tool" in text:
            call = start_tool_call("call-1", "Read the log", kind="read", raw_input={"path": "/log"})
            await self.client.session_update(session_id, call)
            done = update_tool_call(
                "call-1", status="completed", content=[tool_content(text_block("42 lines"))]
            )
            await self.client.session_update(session_id, done)
        if "ask-first" in text:
            await say(f"[{await self.ask(session_id)}] ")
        for word in text.split():
            await say(f"{word} ")
        return PromptResponse(stop_reason="end_turn")

    async def ask(self, session_id: str) -> str:
        wanted = ToolCallUpdate(tool_call_id="call-2", title="Delete the log", raw_input={"path": "/log"})
        answer = await self.client.request_permission(
            session_id=session_id, tool_call=wanted, options=OPTIONS
        )
        return str(getattr(answer.outcome, "option_id", answer.outcome.outcome))

    async def cancel(self, session_id: str, **_: Any) -> None:
        return None


if __name__ == "__main__":
    asyncio.run(run_agent(SmallAgent()))

"""A coding agent that people use, Qwen Code from npm, behind the chat: spoken to over ACP, itself speaking to
the scripted model."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.chat.client import ChatClient
from tests.llm_server import LlmServer, Reply, text_reply
from tests.site import Seat, Site, make_seats, running_site

if TYPE_CHECKING:
    from tests.chat.client import Frame

PACKAGE = "@qwen-code/qwen-code@0.15"
INSTALL_SECONDS = 240
pytestmark = [pytest.mark.sqlite_only, pytest.mark.slow, pytest.mark.timeout(INSTALL_SECONDS + 120)]


@pytest.fixture(scope="module")
def qwen() -> Path:
    """The agent's program, installed once for this machine; nothing of it is kept in the repository."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, so no coding agent can be")
    folder = Path(tempfile.gettempdir()) / "crewsite-test-qwen-0.15"
    program = folder / "node_modules/.bin/qwen"
    if not program.exists():
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, PACKAGE]
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        if done.returncode != 0:
            pytest.skip(f"Qwen Code cannot be installed here: {done.stderr.strip()[-200:]}")
    return program


@pytest.fixture(scope="module")
def agent_site(tmp_path_factory: pytest.TempPathFactory, llm_server: LlmServer, qwen: Path) -> Iterator[Site]:
    own = tmp_path_factory.mktemp("agent-home")
    settings = f"HOME={own} OPENAI_BASE_URL={llm_server.url} OPENAI_API_KEY=any OPENAI_MODEL=scripted"
    model = f"acp:env {settings} {qwen} --acp --auth-type openai"
    with running_site(tmp_path_factory.mktemp("coding"), CREW_LLM_MODEL=model) as running:
        yield running


@pytest.fixture(scope="module")
def agent_seats(agent_site: Site) -> Iterator[Seat]:
    return iter(make_seats(agent_site, 3))


async def asked(chat: ChatClient) -> Frame:
    async with asyncio.timeout(60):
        while (card := await chat.receive("tool"))["state"] != "asking":
            pass
    return card


async def test_it_answers_with_what_memory_knows(
    agent_site: Site, agent_seats: Iterator[Seat], llm: LlmServer
) -> None:
    async with ChatClient(agent_site, next(agent_seats)) as chat:
        await chat.command("/learn always moor at the stern")
        llm.queue.append(text_reply("At the stern, as you taught me."))
        done = await chat.ask("Where do I moor?")
        assert done["type"] == "turn.done", done
        assert done["message"]["content"] == "At the stern, as you taught me."
        prompt = str(llm.requests[-1]["messages"][-1]["content"])
        assert "[Learned corrections]" in prompt
        assert "moor at the stern" in prompt


@pytest.mark.parametrize(("allows", "state"), [(False, "denied"), (True, "done")])
async def test_it_writes_a_file_only_when_the_person_allows_it(
    agent_site: Site, agent_seats: Iterator[Seat], llm: LlmServer, allows: bool, state: str
) -> None:
    note = agent_site.home / f"agents/{state}.txt"
    wanted = {"file_path": str(note), "content": "moored"}
    async with ChatClient(agent_site, next(agent_seats)) as chat:
        llm.queue.extend([Reply(tools=[("write_file", wanted)]), text_reply("That is all.")])
        await chat.send("Write it down")
        card = await asked(chat)
        assert "+moored" in card["result"]
        assert not note.exists()
        choice = next(one["id"] for one in card["choices"] if one["allows"] is allows)
        await chat.say("answer", turn=card["turn"], call=card["id"], choice=choice)
        done = await chat.end()
        assert done["message"]["content"] == "That is all."
        assert [call["state"] for call in done["message"]["tool_calls"]] == [state]
    assert note.exists() is allows

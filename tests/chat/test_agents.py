"""A real agent process behind the chat: its answer, its tools as cards, its questions to the person."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.chat.client import ChatClient
from tests.site import Seat, Site, make_seats, running_site

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = f"{sys.executable} {Path(__file__).resolve().parents[1] / 'acp_agent.py'}"


@pytest.fixture(scope="module")
def agent_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("agents"), CREW_LLM_MODEL=f"acp:{COMMAND}") as running:
        yield running


@pytest.fixture(scope="module")
def agent_seats(agent_site: Site) -> Iterator[Seat]:
    return iter(make_seats(agent_site, 4))


async def test_an_agent_answers_and_what_it_does_is_shown(
    agent_site: Site, agent_seats: Iterator[Seat]
) -> None:
    async with ChatClient(agent_site, next(agent_seats)) as chat:
        done = await chat.ask("use-tool please")
        assert done["type"] == "turn.done", done
        assert done["message"]["content"].endswith("please ")
        assert "seconds" in done["usage"]
        assert "input_tokens" not in done["usage"]
        cards = [(card["name"], card["state"], card["result"]) for card in chat.of("tool")]
        assert cards == [("Read the log", "running", ""), ("Read the log", "done", "42 lines")]
        again = await chat.ask("and now?")
        assert "use-tool please" in again["message"]["content"]


@pytest.mark.parametrize(("choice", "told", "state"), [("yes", "[yes]", "running"), ("no", "[no]", "denied")])
async def test_the_person_answers_its_request_for_permission(
    agent_site: Site, agent_seats: Iterator[Seat], choice: str, told: str, state: str
) -> None:
    async with ChatClient(agent_site, next(agent_seats)) as chat:
        await chat.send("ask-first")
        async with asyncio.timeout(30):
            while (card := await chat.receive("tool"))["state"] != "asking":
                pass
        assert card["name"] == "Delete the log"
        assert {one["id"]: one["allows"] for one in card["choices"]} == {"yes": True, "no": False}
        await chat.say("answer", turn=card["turn"], call=card["id"], choice=choice)
        done = await chat.end()
        assert told in done["message"]["content"]
        assert state in {card["state"] for card in chat.of("tool")}


async def test_a_stop_ends_the_agent(agent_site: Site, agent_seats: Iterator[Seat]) -> None:
    async with ChatClient(agent_site, next(agent_seats)) as chat:
        await chat.send("sleep")
        first = await chat.receive("delta")
        pid = int(first["text"].split()[1])
        await chat.say("stop", turn=first["turn"])
        done = await chat.end()
        assert done["finish_reason"] == "stopped"
        for _ in range(60):
            if not Path(f"/proc/{pid}").exists():
                return
            await asyncio.sleep(0.1)
    raise AssertionError("the agent still runs")

"""Examples of chapter 05.7 that need a site of their own: a hundred streams at once, a small window against a
large memory, and every door of a conversation closed to another member."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.chat.client import ChatClient, close_code
from tests.llm_server import LlmServer
from tests.site import make_seats, running_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.chat.client import Frame
    from tests.site import Seat, Site

pytestmark = pytest.mark.sqlite_only
STREAMS = 100
WORDS = 60
PATIENCE_S = 120.0  # speed is the benchmark's matter
LONG_ROWS = """
from crewsite.accounts.models import Workspace
from crewsite.security.origin import Origin, Source, Surface
from lessons.services import lesson_write
from memory.services import episodic_write
home = Workspace.objects.get(slug="default")
origin = Origin(source=Source.USER_EXPLICIT, surface=Surface.CLI, actor="alice")
for number in range(100):
    name = f"{chr(97 + number % 26)}{chr(97 + number // 26)}"
    words = " ".join(f"{name}{word}{place}" for place in range(20) for word in ("buoy", "rope", "sail"))
    assert episodic_write(home=home, text=f"The harbour in {name}: {words}", origin=origin).row
    assert lesson_write(home=home, rule=f"Always moor {name} with {words}"[:480], origin=origin).row
"""


@pytest.mark.slow
async def test_a_hundred_sockets_stream_at_once_and_every_byte_arrives_in_order(tmp_path: Path) -> None:
    with LlmServer() as llm, running_site(tmp_path / "home", **llm.environment()) as site:
        whole = "".join(f"word{number} " for number in range(WORDS))
        together = asyncio.Barrier(STREAMS)

        async def talk(seat: Seat) -> tuple[str, str]:
            async with ChatClient(site, seat, patience_s=PATIENCE_S) as chat:
                await together.wait()
                done = await chat.ask(f"[script:stream n={WORDS} delay=0.02]")
                offsets = [(frame["offset"], len(frame["text"])) for frame in chat.of("delta")]
                assert all(at + size == after for (at, size), (after, _) in pairwise(offsets))
                return chat.streamed(), done["message"]["content"]

        answers = await asyncio.gather(*(talk(seat) for seat in make_seats(site, STREAMS)))
    assert answers == [(whole, whole)] * STREAMS


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[tuple[Site, LlmServer]]:
    with LlmServer() as llm:
        environment = {**llm.environment(), "CREW_LLM_MODEL": "gpt-3.5-turbo"}
        with running_site(tmp_path / "home", **environment) as site:
            site.run(LONG_ROWS)
            yield site, llm


async def test_200_long_rows_are_trimmed_to_a_small_window_and_the_next_turn_works(
    crowded: tuple[Site, LlmServer],
) -> None:
    site, llm = crowded
    async with ChatClient(site, make_seats(site, 1)[0]) as chat:
        for question in ("How do I moor in the harbour?", "And with which rope?"):
            done = await chat.ask(question)
            assert done["type"] == "turn.done", done
            assert done["injected"]
    turns = site.query("SELECT packet FROM chat_turn WHERE packet != '{}' ORDER BY created_at")
    for row, request in zip(turns, llm.requests, strict=True):
        packet: Frame = json.loads(row[0])
        assert packet["total_chars"] <= packet["ceiling_chars"]
        said = sum(len(str(message["content"])) for message in request["messages"])
        assert said < packet["ceiling_chars"] + 2_000  # and little more than that was sent
    first = json.loads(turns[0][0])["blocks"]
    assert any(block["state"] == "trimmed" or block.get("left_out_count") for block in first)


async def test_another_members_conversation_is_closed_over_page_api_and_websocket(
    site: Site, seats: Iterator[Seat]
) -> None:
    mine, theirs = next(seats), next(seats)
    page = f"{site.url}/chat/{theirs.conversation}/"
    api = f"{site.url}/api/v1/conversations/{theirs.conversation}"
    assert await status(page, Cookie=f"sessionid={theirs.session}") == 200
    assert await status(page, Cookie=f"sessionid={mine.session}") == 404
    for address in (page + "export.md", page + "export.json", page + "messages/1/"):
        assert await status(address, Cookie=f"sessionid={mine.session}") == 404
    assert await status(api, Authorization=f"Bearer {theirs.token}") == 200
    for address in (api, api + "/messages"):
        assert await status(address, Authorization=f"Bearer {mine.token}") == 404
    header = {"Authorization": f"Bearer {mine.token}"}
    assert await close_code(site.socket_url(theirs.conversation), additional_headers=header) == 4404


async def status(address: str, **headers: str) -> int:
    def ask() -> int:
        try:
            with urlopen(Request(address, headers=headers), timeout=20) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code

    return await asyncio.to_thread(ask)

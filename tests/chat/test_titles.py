"""Titles: the first words at once, the small model's words once it has some."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from crewsite.chat.titles import title_of
from tests.chat.client import ChatClient
from tests.llm_server import json_error, text_reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.llm_server import LlmServer
    from tests.site import Seat, Site


@pytest.fixture
def titles(llm: LlmServer) -> Iterator[LlmServer]:
    before = llm.title
    llm.title_requests.clear()
    yield llm
    llm.title = before


def title(site: Site, seat: Seat) -> str:
    return str(
        site.query(
            "SELECT title FROM conversations_conversation WHERE id = ?", seat.conversation.replace("-", "")
        )[0][0]
    )


async def test_after_the_first_answer_the_small_model_names_the_conversation(
    site: Site, seat: Seat, titles: LlmServer
) -> None:
    titles.title = text_reply('"Harbour masters of Lund."')
    async with ChatClient(site, seat) as chat:
        await chat.ask("Please tell me who the harbour masters were")
        told = await chat.receive("title")
        assert told["title"] == "Harbour masters of Lund"
        assert title(site, seat) == "Harbour masters of Lund"
        assert "harbour masters were" in str(titles.title_requests[-1]["messages"])
        await chat.ask("And their boats?")
        await chat.ask("And their dogs?")
    assert len(titles.title_requests) == 1


async def test_without_a_title_the_first_words_stay_and_the_next_answer_does_not_wait(
    site: Site, seat: Seat, titles: LlmServer
) -> None:
    titles.title = text_reply("too late", first_delay_s=30)
    async with ChatClient(site, seat) as chat:
        await chat.ask("Ships in a bottle and how to build them")
        async with asyncio.timeout(10):
            await chat.ask("Second question")
    assert title(site, seat).startswith("Ships in a bottle")


async def test_a_refused_title_changes_nothing(site: Site, seat: Seat, titles: LlmServer) -> None:
    titles.title = json_error(400, "{}")
    async with ChatClient(site, seat) as chat:
        await chat.ask("Rigging a small sloop alone")
        assert (await chat.ask("And at night?"))["type"] == "turn.done"
    assert title(site, seat) == "Rigging a small sloop alone"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Sailing to Oslo", "Sailing to Oslo"),
        ("**Sailing to Oslo.**", "Sailing to Oslo"),
        ("Here it is:\n\n“Sailing to Oslo”", "Sailing to Oslo"),
        ("", ""),
        ("I think that " * 40, ""),
    ],
)
def test_a_title_is_one_short_line_or_none(answer: str, expected: str) -> None:
    assert title_of(answer) == expected

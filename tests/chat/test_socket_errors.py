"""What goes wrong at the model's end is told in words, and the question is kept (05.7 items 8 and 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.chat.client import ChatClient

if TYPE_CHECKING:
    from tests.llm_server import LlmServer
    from tests.site import Seat, Site

pytestmark = pytest.mark.sqlite_only


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("html", ("web page", False)),
        ("empty", ("answered with nothing", True)),
        ("key", ("CREW_LLM_API_KEY", False)),
        ("malformed", ("not JSON", True)),
        ("busy times=99 after=0.01", ("too many requests", True)),
    ],
)
async def test_a_failing_endpoint_gives_a_readable_reason_and_the_question_is_kept(
    site: Site, seat: Seat, llm: LlmServer, script: str, expected: tuple[str, bool]
) -> None:
    words, retryable = expected
    question = f"a question of mine [script:{script}]"
    async with ChatClient(site, seat) as chat:
        failed = await chat.ask(question)
        assert failed["type"] == "turn.failed"
        assert words in failed["reason"]
        assert failed["retryable"] is retryable
    async with ChatClient(site, seat) as again:
        await again.say("resume", after_seq=0)
        assert (await again.receive("message"))["message"]["content"] == question
        assert (await again.ask("[script:stream n=2]"))["message"]["content"] == "word0 word1 "


async def test_a_cut_connection_keeps_what_had_come_and_a_retry_finishes_it(
    site: Site, seat: Seat, llm: LlmServer
) -> None:
    async with ChatClient(site, seat) as chat:
        failed = await chat.ask("[script:cut after=3]")
        assert failed["type"] == "turn.failed"
        assert failed["retryable"]
        assert failed["message"]["content"] == "word0 word1 word2 " == chat.streamed()
        assert failed["message"]["finish_reason"] == "error"
        llm.queue.append(llm.script_stream("", {"n": "4"}, False))
        await chat.say("retry", turn=failed["turn"])
        started = await chat.receive("turn.started")
        assert started["retry_of"] == failed["turn"]
        done = await chat.end()
        assert done["message"]["content"] == "word0 word1 word2 word3 "
        await chat.say("resume", after_seq=0)
        said = [(await chat.receive("message"))["message"]["role"] for _ in range(2)]
        assert said == ["user", "assistant"]


async def test_hostile_text_from_person_and_model_is_inert(site: Site, seat: Seat, llm: LlmServer) -> None:
    async with ChatClient(site, seat) as chat:
        text = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) [script:xss]"
        sent = await chat.send(text)
        done = await chat.end()
        for html in (sent["message"]["html"], done["html"], done["message"]["html"]):
            assert "<img" not in html
            assert 'href="javascript' not in html
        assert 'href="https://evil.example/p.png"' in done["html"]
        assert sent["message"]["content"] == text


async def test_a_turn_that_is_over_is_not_retried(site: Site, seat: Seat, llm: LlmServer) -> None:
    async with ChatClient(site, seat) as chat:
        done = await chat.ask("[script:stream n=1]")
        await chat.say("retry", turn=done["turn"])
        assert (await chat.receive("error"))["code"] == "not_retryable"

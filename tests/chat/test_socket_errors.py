"""What goes wrong at the model's end is told in words, and the question is kept (05.7 items 8 and 10)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.chat.client import ChatClient
from tests.llm_server import Reply, text_reply

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


def events(*deltas: dict[str, Any], reason: str = "stop") -> str:
    """An event stream of these deltas, escaped as an endpoint escapes."""
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    pieces = [(delta, None) for delta in deltas] + [({}, reason)]
    chunks = ({**head, "choices": [{"index": 0, "delta": d, "finish_reason": r}]} for d, r in pieces)
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


async def test_an_emoji_cut_in_two_arrives_whole(site: Site, seat: Seat, llm: LlmServer) -> None:
    llm.queue.append(Reply(raw=events({"content": "hi \ud83d"}, {"content": "\ude00 there"})))
    async with ChatClient(site, seat) as chat:
        done = await chat.ask("hello")
        assert chat.streamed() == done["message"]["content"] == "hi 😀 there"


async def test_arguments_that_are_no_json_do_not_leave_a_turn_open(
    site: Site, seat: Seat, llm: LlmServer
) -> None:
    function = {
        "name": "memory_remember",
        "arguments": '{"text": "The tower is called medusa", "importance": NaN}',
    }
    call = {"index": 0, "id": "c1", "type": "function", "function": function}
    llm.queue.append(Reply(raw=events({"tool_calls": [call]}, reason="tool_calls")))
    llm.queue.append(text_reply("It goes on."))
    async with ChatClient(site, seat) as chat:
        assert (await chat.ask("hello"))["message"]["content"] == "It goes on."


async def test_an_answer_too_long_for_a_frame_still_ends(site: Site, seat: Seat, llm: LlmServer) -> None:
    text = "word " * 180_000
    llm.queue.append(Reply(raw=events({"content": text})))
    async with ChatClient(site, seat) as chat:
        done = await chat.ask("hello")
        assert done["type"] == "turn.done"
        assert done["cut"][0] == "html"
        assert chat.streamed() == text


async def test_an_answer_without_end_is_stopped(site: Site, seat: Seat, llm: LlmServer) -> None:
    llm.queue.append(Reply(raw=events(*[{"content": "word " * 10_000}] * 25)))
    async with ChatClient(site, seat) as chat:
        failed = await chat.ask("hello")
        assert "1,000,000 characters" in failed["reason"]
        assert len(chat.streamed()) == 1_000_000


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(status=302, headers={"Location": "http://127.0.0.1:9/"}), "redirects"),
        (Reply(raw="data: []\n\n"), "no model's answer"),
        (text_reply("  \n "), "answered with nothing"),
    ],
)
async def test_an_endpoint_that_is_none_is_named_as_such(
    site: Site, seat: Seat, llm: LlmServer, reply: Reply, words: str
) -> None:
    llm.queue.append(reply)
    async with ChatClient(site, seat) as chat:
        failed = await chat.ask("hello")
        assert failed["type"] == "turn.failed"
        assert words in failed["reason"]


async def test_an_answer_cut_at_the_longest_length_says_so(site: Site, seat: Seat, llm: LlmServer) -> None:
    llm.queue.append(Reply(raw=events({"content": "half an"}, reason="length")))
    async with ChatClient(site, seat) as chat:
        assert (await chat.ask("hello"))["finish_reason"] == "length"


async def test_odd_commands_are_answered_in_words(site: Site, seat: Seat) -> None:
    async with ChatClient(site, seat) as chat:
        for odd in ("/forget epi:²", f"/forget les:{'9' * 5000}"):
            assert "Nothing in memory matches" in (await chat.command(odd))["text"]
        assert "Lesson saved" in (await chat.command("/learn\nnever use tabs"))["text"]

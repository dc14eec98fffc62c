"""OpenAI's own client against a running site: memory by changing the base URL and the key."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import openai
import pytest

from tests.llm_server import Reply, json_error, text_of, text_reply

if TYPE_CHECKING:
    from tests.llm_server import LlmServer
    from tests.site import Seat, Site

TEACH = """
from crewsite.accounts.models import Workspace
from crewsite.security.origin import Origin, Source
from lessons.services import lesson_write
home = Workspace.objects.get(slug="default")
lesson_write(home=home, rule={rule!r}, origin=Origin(source=Source.USER_EXPLICIT))
"""


@pytest.fixture
def client(site: Site, seat: Seat) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{site.url}/v1", api_key=seat.token, timeout=30)


def said(text: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": text}


async def ask(client: openai.AsyncOpenAI, *messages: Any, **options: Any) -> Any:
    return await client.chat.completions.create(model="default", messages=list(messages), **options)


async def test_a_stored_lesson_stands_in_the_prompt_and_in_the_answer(
    site: Site, client: openai.AsyncOpenAI, llm: LlmServer
) -> None:
    site.run(TEACH.format(rule="Ship the zeppelin manifest on Tuesdays"))
    answer = await ask(client, said("When do I ship the zeppelin manifest?"))
    assert answer.object == "chat.completion"
    assert "Ship the zeppelin manifest on Tuesdays" in answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens > 0
    system = "\n".join(text_of(m) for m in llm.requests[-1]["messages"] if m["role"] == "system")
    assert "Ship the zeppelin manifest on Tuesdays" in system


async def test_a_stream_brings_every_word_once_then_its_usage(
    client: openai.AsyncOpenAI, llm: LlmServer
) -> None:
    stream = await ask(
        client, said("[script:stream n=120 delay=0.002]"), stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "".join(f"word{i} " for i in range(120))
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason] == [
        "stop"
    ]
    assert chunks[-1].usage.completion_tokens > 0
    assert len({chunk.id for chunk in chunks}) == 1


async def test_the_header_continues_a_conversation(client: openai.AsyncOpenAI, llm: LlmServer) -> None:
    first = await client.chat.completions.with_raw_response.create(
        model="default", messages=[{"role": "user", "content": "My boat is called Ada."}]
    )
    conversation = first.headers["x-crew-conversation"]
    second = await client.chat.completions.with_raw_response.create(
        model="default",
        messages=[{"role": "user", "content": "What is it called?"}],
        extra_headers={"X-Crew-Conversation": conversation},
    )
    assert second.headers["x-crew-conversation"] == conversation
    sent = [text_of(m) for m in llm.requests[-1]["messages"] if m["role"] in {"user", "assistant"}]
    assert any("My boat is called Ada." in text for text in sent)
    assert len(sent) == 3


async def test_a_client_that_sends_its_whole_story_comes_back_to_the_same_conversation(
    client: openai.AsyncOpenAI, site: Site, seat: Seat, llm: LlmServer
) -> None:
    opening = [said("You answer sailors.", "system"), said("The harbour is called Lund.")]
    first = await ask(client, *opening)
    story = [*opening, said(first.choices[0].message.content, "assistant")]
    second = await ask(client, *story, said("And the pier?"))
    story += [said("And the pier?"), said(second.choices[0].message.content, "assistant")]
    await ask(client, *story, said("Thanks."))
    rows = site.query(
        "SELECT c.id, COUNT(m.id) FROM conversations_conversation c JOIN conversations_message m"
        " ON m.conversation_id = c.id JOIN accounts_user u ON u.id = c.owner_id"
        " WHERE u.username = ? AND c.surface = 'api' GROUP BY c.id",
        seat.user,
    )
    assert [count for _, count in rows] == [6]
    assert "You answer sailors." in text_of(llm.requests[-1]["messages"][0])


async def test_a_story_told_elsewhere_is_read_and_not_learned_from(
    client: openai.AsyncOpenAI, site: Site, seat: Seat, llm: LlmServer
) -> None:
    await ask(client, said("I sail."), said("Good.", "assistant"), said("Where do I sail?"))
    sent = [text_of(m) for m in llm.requests[-1]["messages"] if m["role"] in {"user", "assistant"}]
    assert sent[:2] == ["I sail.", "Good."]
    private = site.query(
        "SELECT m.content, m.private FROM conversations_message m JOIN conversations_conversation c"
        " ON m.conversation_id = c.id JOIN accounts_user u ON u.id = c.owner_id"
        " WHERE u.username = ? AND c.surface = 'api' ORDER BY m.seq",
        seat.user,
    )
    assert [bool(flag) for _, flag in private][:3] == [True, True, False]


async def test_tools_run_on_the_server(site: Site, client: openai.AsyncOpenAI, llm: LlmServer) -> None:
    answer = await ask(client, said('[script:learn rule="Anchor before the storm"]'))
    assert answer.choices[0].message.content.endswith("and the answer goes on.")
    assert answer.choices[0].message.tool_calls is None
    assert site.query("SELECT 1 FROM lessons_lesson WHERE rule = 'Anchor before the storm'")


async def test_settings_of_the_call_reach_the_model(client: openai.AsyncOpenAI, llm: LlmServer) -> None:
    await ask(client, said("hello"), temperature=0.25, max_tokens=77, seed=5, stop=["END"])
    body = llm.requests[-1]
    assert (body["temperature"], body["seed"], body["stop"]) == (0.25, 5, ["END"])
    assert 77 in {body.get("max_tokens"), body.get("max_completion_tokens")}


async def test_a_wrong_key_is_an_authentication_error(site: Site) -> None:
    stranger = openai.AsyncOpenAI(base_url=f"{site.url}/v1", api_key="crew_wrong")
    with pytest.raises(openai.AuthenticationError) as raised:
        await stranger.models.list()
    assert raised.value.code == "invalid_api_key"


async def test_the_models_are_listed_and_an_unknown_conversation_is_not_found(
    client: openai.AsyncOpenAI,
) -> None:
    assert {row.id for row in (await client.models.list()).data} == {"default", "scripted", "memory"}
    assert (await client.models.retrieve("memory")).id == "memory"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("nothing")
    with pytest.raises(openai.NotFoundError) as raised:
        await ask(client, said("hi"), extra_headers={"X-Crew-Conversation": "not-an-id"})
    assert raised.value.code == "conversation_not_found"


async def test_anothers_conversation_is_not_found(
    client: openai.AsyncOpenAI, seats: Any, llm: LlmServer
) -> None:
    other: Seat = next(seats)
    with pytest.raises(openai.NotFoundError):
        await ask(client, said("hi"), extra_headers={"X-Crew-Conversation": other.conversation})
    assert not llm.requests


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"temperature": 3}, "temperature"),
    ],
)
async def test_what_cannot_be_done_is_refused_by_name(
    client: openai.AsyncOpenAI, llm: LlmServer, fields: dict[str, Any], param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        await ask(client, said("hi"), **fields)
    assert raised.value.param == param
    assert not llm.requests


async def test_the_last_message_is_the_persons_and_text(client: openai.AsyncOpenAI) -> None:
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.example"}}]}
    for messages in ([said("hi"), said("hello", "assistant")], [picture], [said("  ")]):
        with pytest.raises(openai.BadRequestError):
            await ask(client, *messages)


async def test_a_failed_answer_gives_its_reason_and_is_not_asked_again_by_the_client(
    client: openai.AsyncOpenAI, llm: LlmServer
) -> None:
    llm.queue.append(json_error(401, '{"error": {"message": "no"}}'))
    with pytest.raises(openai.InternalServerError) as raised:
        await ask(client, said("hi"))
    assert "refused the API key" in str(raised.value)
    assert len(llm.requests) == 1
    llm.queue.append(Reply(chunks=["half ", "an ", "answer"], cut_after=2))
    with pytest.raises(openai.APIError, match="broke off"):
        async for _ in await ask(client, said("again"), stream=True):
            pass


async def test_a_client_that_leaves_stops_its_answer(
    client: openai.AsyncOpenAI, site: Site, seat: Seat, llm: LlmServer
) -> None:
    llm.queue.append(text_reply("one two three " * 400, delay_s=0.01))
    stream = await ask(client, said("go on and on"), stream=True)
    async for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    await stream.close()
    for _ in range(100):
        states = site.query(
            "SELECT t.state FROM chat_turn t JOIN conversations_conversation c ON c.id = t.conversation_id"
            " JOIN accounts_user u ON u.id = c.owner_id WHERE u.username = ?",
            seat.user,
        )
        if states == [("cancelled",)]:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(states)


async def test_memory_alone_answers_under_its_name(client: openai.AsyncOpenAI, llm: LlmServer) -> None:
    answer = await client.chat.completions.create(
        model="memory", messages=[{"role": "user", "content": "Who feeds the walrus?"}]
    )
    assert "Memory holds nothing" in (answer.choices[0].message.content or "")
    assert not llm.requests

"""Anthropic's Messages API through its own SDK: streams, tools, refusals, retries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic_ai import Agent

from crewsite.llm import breaker
from crewsite.llm.errors import LlmError, explain
from crewsite.llm.providers import model_for
from crewsite.llm.targets import Target
from tests.llm_server import LlmServer, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[LlmServer]:
    breaker.reset()
    with LlmServer(api_key="good") as running:
        yield running
    breaker.reset()


async def ask(server: LlmServer, text: str, *, key: str = "good") -> str:
    target = Target("claude", "claude", "anthropic", "claude-of-tests", server.url, key)
    try:
        async with Agent(model_for(target)).run_stream(text) as result:
            return await result.get_output()
    except Exception as error:
        raise explain(error) from error


async def test_a_streamed_answer_arrives_whole(server: LlmServer) -> None:
    assert await ask(server, "[script:stream n=50]") == "".join(f"word{i} " for i in range(50))
    assert server.requests[0]["max_tokens"] == 8_192


async def test_a_tool_is_called_and_its_result_told(server: LlmServer) -> None:
    called: list[str] = []

    def learn_add(rule: str) -> str:
        called.append(rule)
        return "saved"

    target = Target("claude", "claude", "anthropic", "claude-of-tests", server.url, "good")
    result = await Agent(model_for(target), tools=[learn_add]).run('[script:learn rule="Use pytest"]')
    assert called == ["Use pytest"]
    assert result.output == "and the answer goes on."
    assert server.requests[-1]["messages"][-1] == {"role": "tool", "content": "saved"}


async def test_a_wrong_key_is_named_by_its_connection(server: LlmServer) -> None:
    with pytest.raises(LlmError) as raised:
        await ask(server, "hello", key="bad")
    assert raised.value.reason.endswith("Check the key of the connection claude.")
    assert not raised.value.retryable


async def test_a_busy_endpoint_is_asked_again_as_it_says(server: LlmServer) -> None:
    assert await ask(server, "[script:busy times=2 after=0.01]") == "thanks for waiting"
    assert len(server.requests) == 3


async def test_an_endpoint_that_stays_down_opens_its_breaker(server: LlmServer) -> None:
    for _ in range(2):
        with pytest.raises(LlmError) as raised:
            await ask(server, "[script:down]")
    assert raised.value.retryable
    assert breaker.breaker_for(server.url).failures == 2


async def test_a_connection_cut_while_streaming_is_retryable(server: LlmServer) -> None:
    server.queue.append(Reply(chunks=["half ", "an ", "answer"], cut_after=2))
    with pytest.raises(LlmError) as raised:
        await ask(server, "hello")
    assert raised.value.retryable

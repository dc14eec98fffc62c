from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from asgiref.sync import sync_to_async
from pydantic_ai import Agent

from crewsite.llm import breaker, providers
from crewsite.llm.constants import BREAKER_FAILURES
from crewsite.llm.errors import LlmError, explain
from crewsite.llm.providers import llm_status, model_for
from crewsite.llm.targets import endpoint_configured, model_name, target_of
from tests.llm_server import LlmServer, Reply, text_reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django.fixtures import SettingsWrapper


@pytest.fixture
def server(settings: SettingsWrapper) -> Iterator[LlmServer]:
    with LlmServer(api_key="good") as running:
        settings.CREW_LLM_BASE_URL = running.url
        settings.CREW_LLM_MODEL = "scripted"
        settings.CREW_LLM_API_KEY = "good"
        yield running


async def ask(text: str) -> str:
    """One streamed call, as chat makes it."""
    agent = Agent(model_for(endpoint_configured()), retries={"tools": 2, "output": 0})
    try:
        async with agent.run_stream(text) as result:
            return await result.get_output()
    except Exception as error:
        raise explain(error) from error


async def refusal(text: str) -> LlmError:
    with pytest.raises(LlmError) as raised:
        await ask(text)
    return raised.value


async def test_a_streamed_answer_arrives_whole(server: LlmServer) -> None:
    assert await ask("[script:stream n=50]") == "".join(f"word{i} " for i in range(50))


async def test_a_busy_endpoint_is_asked_again_as_it_says(server: LlmServer) -> None:
    assert await ask("[script:busy times=2 after=0.01]") == "thanks for waiting"
    assert len(server.requests) == 3


async def test_a_busy_endpoint_that_stays_busy_gives_a_retryable_reason(server: LlmServer) -> None:
    error = await refusal("[script:busy times=99 after=0.01]")
    assert error.retryable
    assert "too many requests" in error.reason


async def test_a_web_page_instead_of_an_answer_is_named_and_not_worth_a_retry(server: LlmServer) -> None:
    error = await refusal("[script:html]")
    assert not error.retryable
    assert "web page" in error.reason
    assert "CREW_LLM_BASE_URL" in error.reason
    assert len(server.requests) == 1


async def test_a_gateway_error_page_is_a_status_and_retryable(server: LlmServer) -> None:
    server.queue.extend(
        Reply(
            status=502,
            body="<html>Bad gateway</html>",
            content_type="text/html",
            headers={"Retry-After": "0.01"},
        )
        for _ in range(4)
    )
    error = await refusal("hello")
    assert error.retryable
    assert error.reason == "The model endpoint failed with status 502."


@pytest.mark.parametrize("script", ["empty", "blank"])
async def test_an_empty_answer_says_so_and_may_be_tried_again(server: LlmServer, script: str) -> None:
    error = await refusal(f"[script:{script}]")
    assert error.retryable
    assert error.reason == "The model answered with nothing."


async def test_a_wrong_key_is_named_without_showing_it(server: LlmServer) -> None:
    error = await refusal("[script:key]")
    assert not error.retryable
    assert "CREW_LLM_API_KEY" in error.reason
    assert "sk-abc" not in error.reason


async def test_the_key_is_sent(server: LlmServer, settings: SettingsWrapper) -> None:
    settings.CREW_LLM_API_KEY = "bad"
    assert "CREW_LLM_API_KEY" in (await refusal("hello")).reason


async def test_an_unknown_model_is_named(server: LlmServer) -> None:
    error = await refusal("[script:model]")
    assert not error.retryable
    assert "CREW_LLM_MODEL" in error.reason


async def test_a_connection_cut_while_streaming_is_retryable(server: LlmServer) -> None:
    error = await refusal("[script:cut after=3]")
    assert error.retryable
    assert "broke off" in error.reason


async def test_a_stream_that_ends_without_a_reason_is_no_whole_answer(server: LlmServer) -> None:
    delta = '{"index": 0, "delta": {"content": "half an"}, "finish_reason": null}'
    chunk = (
        f'{{"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{delta}]}}'
    )
    for end in ("", "data: [DONE]\n\n"):
        server.queue.append(Reply(raw=f"data: {chunk}\n\n{end}"))
        error = await refusal("hello")
        assert error.retryable
        assert "broke off" in error.reason
    assert not breaker.breaker_for(server.url).failures


async def test_malformed_events_are_named(server: LlmServer) -> None:
    error = await refusal("[script:malformed]")
    assert error.retryable
    assert "not JSON" in error.reason


async def test_a_slow_first_token_is_given_up(server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "FIRST_TOKEN_TIMEOUT_S", 0.1)
    error = await refusal("[script:slow delay=2]")
    assert error.retryable
    assert "sent nothing" in error.reason


async def test_nobody_listening_is_named(settings: SettingsWrapper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "MAX_RETRIES", 0)
    settings.CREW_LLM_BASE_URL, settings.CREW_LLM_MODEL = "http://127.0.0.1:9/v1", "scripted"
    error = await refusal("hello")
    assert error.retryable
    assert "cannot be reached" in error.reason


@pytest.mark.django_db(transaction=True)
async def test_a_dead_endpoint_is_not_waited_for_again_and_again(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "MAX_RETRIES", 0)
    for _ in range(BREAKER_FAILURES):
        await refusal("[script:down]")
    seen = len(server.requests)
    started = time.monotonic()
    error = await refusal("hello")
    assert "times in a row" in error.reason
    assert time.monotonic() - started < 0.5
    assert len(server.requests) == seen
    assert (await sync_to_async(llm_status)())["state"] == "failing"


@pytest.mark.django_db(transaction=True)
async def test_one_failed_call_shows_in_the_status_until_a_call_succeeds(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "MAX_RETRIES", 0)
    await refusal("[script:down]")
    assert (await sync_to_async(llm_status)())["state"] == "failing"
    await ask("hello")
    assert (await sync_to_async(llm_status)())["state"] == "ready"


async def test_a_refused_request_does_not_open_the_breaker(server: LlmServer) -> None:
    for _ in range(BREAKER_FAILURES):
        await refusal("[script:key]")
    assert await ask("[script:stream n=1]") == "word0 "


async def test_a_redirect_is_not_followed(server: LlmServer, settings: SettingsWrapper) -> None:
    with LlmServer() as elsewhere:
        server.queue.append(
            Reply(status=307, body="", headers={"Location": f"{elsewhere.url}/chat/completions"})
        )
        with pytest.raises(LlmError):
            await ask("hello")
        assert not elsewhere.requests


async def test_an_answer_without_streaming_works_too(server: LlmServer) -> None:
    server.queue.append(text_reply("forty two"))
    assert (await Agent(model_for(endpoint_configured())).run("question")).output == "forty two"


@pytest.mark.django_db
def test_without_settings_no_model_is_connected(settings: SettingsWrapper) -> None:
    settings.CREW_LLM_BASE_URL = settings.CREW_LLM_API_KEY = settings.CREW_LLM_MODEL = ""
    assert endpoint_configured() is None
    assert target_of() is None
    assert llm_status()["state"] == "absent"
    assert "CREW_LLM_BASE_URL" in llm_status()["hint"]


def test_a_key_and_a_model_alone_mean_openai(settings: SettingsWrapper) -> None:
    settings.CREW_LLM_BASE_URL, settings.CREW_LLM_API_KEY, settings.CREW_LLM_MODEL = "", "key", "gpt-5"
    endpoint = endpoint_configured()
    assert endpoint is not None
    assert endpoint.base_url == "https://api.openai.com/v1"


@pytest.mark.django_db
def test_small_jobs_fall_back_to_the_default_model(settings: SettingsWrapper) -> None:
    from constance.test import override_config

    settings.CREW_LLM_BASE_URL, settings.CREW_LLM_MODEL = "http://127.0.0.1:9/v1", "big"
    assert model_name("smol") == model_name("judge") == model_name("default") == "big"
    with override_config(LLM_SMOL_MODEL="small"):
        assert model_name("smol") == "small"
        assert model_name("judge") == "big"
    assert model_name("qwen3:8b") == "qwen3:8b"


def test_looking_at_connections_loads_no_model_library() -> None:
    code = (
        "import django, sys; django.setup()\n"
        "from crewsite.llm import connections, structured, usage\n"
        "from crewsite.llm.targets import endpoint_configured\n"
        "endpoint_configured()\n"
        "print('pydantic_ai' in sys.modules, 'openai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]

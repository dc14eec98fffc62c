from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from constance.test import override_config
from pydantic import BaseModel, Field

from crewsite.llm import providers
from crewsite.llm.constants import BREAKER_FAILURES
from crewsite.llm.errors import LlmError
from crewsite.llm.structured import Structured, structured_call, tool_name
from tests.llm_server import LlmServer, Reply, error_body, json_error

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper


pytestmark = pytest.mark.django_db


class WeatherReport(BaseModel):
    """A report."""

    place: str
    degrees: list[int] = Field(max_length=2)


GOOD = {"place": "Oslo", "degrees": [4]}
GOOD_JSON = json.dumps(GOOD)


def ask(**fields: Any) -> Structured[WeatherReport]:
    return structured_call(
        schema=WeatherReport, instructions="Report.", prompt="Oslo?", **{"role": "scripted", **fields}
    )


def refusal(**fields: Any) -> LlmError:
    with pytest.raises(LlmError) as raised:
        ask(**fields)
    return raised.value


def by_tool(arguments: Any) -> Reply:
    return Reply(tools=[("weather_report", arguments)])


def test_a_tool_call_is_the_answer(server: LlmServer) -> None:
    server.queue.append(by_tool(GOOD))
    answer = ask()
    assert answer.output == WeatherReport(**GOOD)
    assert (answer.model, answer.usage["requests"]) == ("scripted", 1)
    assert server.requests[0]["tools"][0]["function"]["name"] == tool_name(WeatherReport) == "weather_report"


@pytest.mark.parametrize(
    "text",
    [
        GOOD_JSON,
        f"```json\n{GOOD_JSON}\n```",
        f"<think>It is cold there, so {{4}}.</think>\n{GOOD_JSON}",
        f"<think>hm</think>```\n{GOOD_JSON}\n```",
        f"Here it is:\n\n```json\n{GOOD_JSON}\n```\nAnything else?",
    ],
)
def test_the_object_in_words_is_read_at_once(server: LlmServer, text: str) -> None:
    server.queue.append(Reply(chunks=[text]))
    assert ask().output.place == "Oslo"
    assert len(server.requests) == 1


def test_prose_is_asked_again_with_the_schema_in_front_of_the_model(server: LlmServer) -> None:
    server.queue.extend([Reply(chunks=["It is four degrees in Oslo."]), Reply(chunks=[GOOD_JSON])])
    assert ask().output.degrees == [4]
    again = server.requests[1]
    assert "tools" not in again
    assert '"degrees"' in json.dumps(again["messages"][:-1]).replace("\\", "")


def test_prose_that_stays_prose_fails_after_two_retries(server: LlmServer) -> None:
    server.queue.extend(Reply(chunks=["It is cold."]) for _ in range(9))
    error = refusal()
    assert error.retryable
    assert not error.deferred
    assert len(server.requests) == 1 + 3


def test_a_missing_field_is_named_to_the_model_and_retried(server: LlmServer) -> None:
    server.queue.extend([by_tool({"place": "Oslo"}), by_tool(GOOD)])
    assert ask().output.degrees == [4]
    assert "degrees" in server.requests[1]["messages"][-1]["content"]


def test_a_field_that_stays_missing_fails_with_its_name(server: LlmServer) -> None:
    server.queue.extend(by_tool({"place": "Oslo"}) for _ in range(9))
    error = refusal()
    assert "degrees" in error.reason
    assert error.retryable
    assert not error.deferred
    assert len(server.requests) == 3


def test_a_list_over_its_cap_is_no_answer(server: LlmServer) -> None:
    server.queue.extend([by_tool({**GOOD, "degrees": [1, 2, 3]}), by_tool(GOOD)])
    assert ask().output.degrees == [4]


def test_an_endpoint_without_tools_is_asked_in_words(server: LlmServer) -> None:
    refused = json_error(400, error_body("scripted does not support tools", "invalid_request_error"))
    server.queue.extend([refused, Reply(chunks=[GOOD_JSON])])
    assert ask().output.place == "Oslo"


def test_another_refused_request_is_not_repeated(server: LlmServer) -> None:
    server.queue.extend(json_error(400, error_body("the prompt is too long", "bad")) for _ in range(9))
    error = refusal()
    assert (error.retryable, error.deferred, error.status) == (False, False, 400)
    assert len(server.requests) == 1


def test_a_busy_endpoint_is_asked_until_it_answers(server: LlmServer) -> None:
    for _ in range(3):
        busy = json_error(429, error_body("slow down", "rate_limit_exceeded"))
        busy.headers["Retry-After"] = "0.01"
        server.queue.append(busy)
    server.queue.append(by_tool(GOOD))
    assert ask().output.place == "Oslo"
    assert len(server.requests) == 4


def test_an_endpoint_that_stays_busy_says_how_long(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "MAX_RETRIES", 0)
    busy = json_error(429, error_body("slow down", "rate_limit_exceeded"))
    busy.headers["Retry-After"] = "120"
    server.queue.append(busy)
    error = refusal()
    assert (error.retryable, error.deferred, error.retry_after_s) == (True, True, 120.0)


def test_a_failing_endpoint_opens_the_breaker(server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "MAX_RETRIES", 0)
    server.queue.extend(json_error(500, error_body("boom", "server_error")) for _ in range(BREAKER_FAILURES))
    for _ in range(BREAKER_FAILURES):
        assert refusal().deferred
    seen = len(server.requests)
    error = refusal()
    assert "times in a row" in error.reason
    assert error.retry_after_s
    assert len(server.requests) == seen


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(raw="<html>Welcome</html>", content_type="text/html"), "web page"),
        (Reply(status=302, headers={"Location": "http://127.0.0.1:9/v1"}), "redirects"),
    ],
)
def test_an_address_that_is_no_endpoint_fails_in_words(server: LlmServer, reply: Reply, told: str) -> None:
    server.queue.append(reply)
    error = refusal()
    assert told in error.reason
    assert not error.retryable


def test_a_slow_answer_is_given_up(server: LlmServer) -> None:
    server.queue.append(Reply(tools=[("weather_report", GOOD)], first_delay_s=5))
    error = refusal(timeout_s=0.3)
    assert "too long" in error.reason
    assert error.retryable


def test_a_connection_cut_before_the_answer_is_retryable(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "MAX_RETRIES", 0)
    server.queue.append(Reply(chunks=[GOOD_JSON], cut_after=0))
    assert refusal().deferred


def test_without_a_model_it_says_so(settings: SettingsWrapper) -> None:
    settings.CREW_LLM_BASE_URL = settings.CREW_LLM_API_KEY = settings.CREW_LLM_MODEL = ""
    assert "No language model" in refusal().reason


@pytest.mark.django_db
def test_a_role_without_a_model_of_its_own_asks_the_default_one(server: LlmServer) -> None:
    server.queue.extend([by_tool(GOOD), by_tool(GOOD)])
    assert ask(role="smol").model == "scripted"
    with override_config(LLM_SMOL_MODEL="tiny"):
        assert ask(role="smol").model == "tiny"
    assert server.requests[1]["model"] == "tiny"

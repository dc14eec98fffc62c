"""What an endpoint says it offers, and what that means for a name that somebody typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.exceptions import ValidationError

from crewsite.llm import offered
from crewsite.llm.connections import roles_save
from crewsite.llm.offered import is_offered, name_check, offer_of, offers
from crewsite.llm.targets import Target
from tests.llm_server import LlmServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django.fixtures import SettingsWrapper

KEY = "sk-list-0123456789"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    monkeypatch.setattr(offered, "_kept", {})
    monkeypatch.setattr(offered, "FRESH_AGE_S", 0.0)
    with LlmServer(api_key=KEY) as server:
        server.models = ["big", "tiny", "tiny-2", "text-embedding-big"]
        yield server


def target(server: LlmServer, model: str = "big", *, provider: str = "openai", key: str = KEY) -> Target:
    return Target("house", "house", provider, model, server.url, key)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_list_is_the_endpoints_own_and_asked_for_once(server: LlmServer, provider: str) -> None:
    one = target(server, provider=provider)
    assert offer_of(one).models == ("big", "tiny", "tiny-2", "text-embedding-big")
    assert offer_of(one).for_chat == ("big", "tiny", "tiny-2")
    assert offers([one])["house"].is_known
    assert server.lists_asked == 1
    server.models = ["new"]
    assert offers([one], fresh=True)["house"].models == ("new",)


def test_a_name_that_is_not_listed_is_refused_with_what_is_near(server: LlmServer) -> None:
    assert name_check(target(server)) == ("", "")
    refusal, warning = name_check(target(server, "tiny-3"))
    assert refusal == "The endpoint of house offers no model “tiny-3”. Did you mean tiny-2, tiny?"
    assert not warning
    assert (
        name_check(target(server, "nope"))[0]
        == "The endpoint of house offers no model “nope”. It has big, tiny, tiny-2, and 1 more."
    )


def test_what_was_pulled_a_moment_ago_is_not_refused(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer_of(target(server))
    monkeypatch.setattr(offered, "REFUSAL_AGE_S", 0.0)
    server.models = ["big", "new"]
    assert name_check(target(server, "new")) == ("", "")


@pytest.mark.parametrize(
    ("models", "key", "why"),
    [
        (None, KEY, "asked for its models, it answered with status 404."),
        ([], KEY, "it lists no models."),
        (["big"], "wrong", "asked for its models, it answered with status 401."),
        (["big"], "käse\n", "asking it for its models failed."),
    ],
)
def test_without_a_list_nothing_is_refused_and_the_reason_is_told(
    server: LlmServer, models: list[str] | None, key: str, why: str
) -> None:
    server.models = models
    assert name_check(target(server, "nope", key=key)) == (
        "",
        f"Whether the endpoint of house has it is not known: {why}",
    )


def test_an_endpoint_that_is_away_is_no_reason_to_refuse() -> None:
    gone = Target("house", "house", "openai", "nope", "http://127.0.0.1:9/v1", "")
    assert name_check(gone) == (
        "",
        "Whether the endpoint of house has it is not known: it cannot be reached.",
    )


def test_a_tag_and_a_date_may_be_left_out() -> None:
    assert is_offered("llama3", ["llama3:latest"])
    assert is_offered("claude-x-4", ["claude-x-4-20260101"])
    assert is_offered("claude-x-4-latest", ["claude-x-4-20260101"])
    assert not is_offered("claude-x", ["claude-x-4-20260101"])


@pytest.mark.django_db
def test_a_role_is_not_given_to_a_model_that_the_endpoint_lacks(
    server: LlmServer, settings: SettingsWrapper
) -> None:
    settings.CREW_LLM_BASE_URL, settings.CREW_LLM_MODEL, settings.CREW_LLM_API_KEY = server.url, "big", KEY
    roles_save(roles={"smol": "tiny"})
    with pytest.raises(ValidationError, match="endpoint offers no model “nope”"):
        roles_save(roles={"smol": "nope"})

"""Picking a model: what the endpoint offers is listed, what it lacks is refused through every door."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.management.base import CommandError
from django.test import Client
from rest_framework.test import APIClient

from crewsite.accounts.services import token_create
from crewsite.api.openai.callers import caller_of, model_ids, turn_of
from crewsite.api.openai.requests import OpenAIError, parse
from crewsite.chat.commands import run_command
from crewsite.chat.model_choice import model_menu
from crewsite.chat.terminal.local import LocalChat
from crewsite.llm import offered
from crewsite.llm.tools import ToolContext
from tests.factories import make_conversation
from tests.llm_server import LlmServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django.fixtures import SettingsWrapper

    from crewsite.accounts.models import User, Workspace
    from crewsite.conversations.models import Conversation

pytestmark = pytest.mark.django_db
REFUSED = "The site's endpoint offers no model “nope”. It has big, tiny, and 1 more."


@pytest.fixture
def server(settings: SettingsWrapper, monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    monkeypatch.setattr(offered, "_kept", {})
    monkeypatch.setattr(offered, "FRESH_AGE_S", 0.0)
    monkeypatch.setattr(offered, "REFUSAL_AGE_S", 60.0)
    with LlmServer() as server:
        server.models = ["big", "tiny", "text-embedding-big"]
        settings.CREW_LLM_BASE_URL, settings.CREW_LLM_MODEL = server.url, "big"
        yield server


@pytest.fixture
def talk(alice: User, home: Workspace) -> Conversation:
    return make_conversation(alice, home)


def said(talk: Conversation, text: str) -> str:
    return run_command(ToolContext(talk.workspace, talk.owner, talk), text).text


def test_a_model_that_the_endpoint_lacks_is_refused_in_chat(server: LlmServer, talk: Conversation) -> None:
    assert said(talk, "/model nope") == REFUSED
    talk.refresh_from_db()
    assert talk.model == ""
    assert said(talk, "/model tiny") == "From the next message on: tiny."
    assert "`tiny`" in said(talk, "/model")


def test_without_a_list_any_name_is_taken_with_a_warning(server: LlmServer, talk: Conversation) -> None:
    server.models = None
    told = said(talk, "/model nope")
    assert told.startswith("From the next message on: nope. Whether the site's endpoint has it is not known")
    talk.refresh_from_db()
    assert talk.model == "nope"
    assert "Not told by environment" in said(talk, "/model")


def test_it_is_refused_by_the_api_the_terminal_and_openais_clients_too(
    server: LlmServer, talk: Conversation, alice: User, home: Workspace
) -> None:
    _, plaintext = token_create(user=alice, name="t", scopes=["read", "write"])
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {plaintext}")
    path = f"/api/v1/conversations/{talk.pk}"
    refused = client.patch(path, {"model": "nope"}, format="json")
    assert (refused.status_code, refused.json()["errors"]) == (400, {"model": [REFUSED]})
    assert client.patch(path, {"model": "tiny"}, format="json").json()["model"] == "tiny"
    with pytest.raises(CommandError, match=REFUSED):
        LocalChat(home).open(conversation="", mode="", model="nope")
    caller = caller_of(f"Bearer {plaintext}", scope="write", address="192.0.2.1")
    with pytest.raises(OpenAIError) as raised:
        turn_of(caller, parse(b'{"model": "nope", "messages": [{"role": "user", "content": "hi"}]}'), "")
    assert (raised.value.status, str(raised.value)) == (404, REFUSED)
    assert model_ids() == ["default", "big", "tiny", "memory"]


def test_the_picker_offers_what_the_endpoint_has_and_refreshing_asks_it(
    server: LlmServer, talk: Conversation, alice: User
) -> None:
    talk.model = "gone"
    talk.save()
    client = Client()
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(f"/chat/{talk.pk}/").content.decode()
    assert "data-stale" in page  # no page waits for an endpoint
    assert server.lists_asked == 0
    assert '<option value="gone" selected>gone</option>' in page
    options = client.get("/chat/models/", {"current": "tiny"}).content.decode()
    assert '<optgroup label="More models"><option value="tiny" selected>tiny</option></optgroup>' in options
    assert "data-stale" not in client.get(f"/chat/{talk.pk}/").content.decode()
    server.models = ["big", "newest"]
    assert "newest" not in client.get("/chat/models/").content.decode()
    assert "newest" in client.get("/chat/models/?fresh").content.decode()


def test_the_largest_lists_are_cut_in_the_picker(server: LlmServer) -> None:
    server.models = [f"model-{number}" for number in range(300)]
    assert len(model_menu(ask=True).groups[0].choices) == 100

"""The page Models: for operators, by plain forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client

from crewsite.llm import breaker
from crewsite.llm.connections import connection_save
from crewsite.llm.models import Connection
from crewsite.llm.usage import usage_record
from tests.factories import make_user
from tests.llm_server import LlmServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django.fixtures import SettingsWrapper

    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db
PAGE = "/settings/models/"
KEY = "sk-page-0123456789-tail"
FORM = {
    "name": "house",
    "provider": "openai",
    "model": "big",
    "base_url": "http://127.0.0.1:9/v1",
    "api_key": KEY,
}


@pytest.fixture(autouse=True)
def nothing_in_the_environment(settings: SettingsWrapper) -> Iterator[None]:
    settings.CREW_LLM_BASE_URL = settings.CREW_LLM_API_KEY = settings.CREW_LLM_MODEL = ""
    breaker.reset()
    yield
    breaker.reset()


@pytest.fixture
def operator(home: Workspace) -> Client:
    return signed_in(make_user("operator", is_superuser=True, is_staff=True))


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_only_operators_see_it(alice: User) -> None:
    client = signed_in(alice)
    for path in (PAGE, f"{PAGE}new/"):
        assert client.get(path).status_code == 403
        assert Client().get(path).status_code == 302
    for path in (f"{PAGE}0/test/", f"{PAGE}1/remove/", f"{PAGE}roles/", f"{PAGE}new/"):
        assert client.post(path, FORM).status_code == 403
    assert not Connection.objects.exists()
    assert PAGE not in client.get("/").content.decode()


def test_the_hint_of_a_site_without_a_model_leads_an_operator_there(operator: Client) -> None:
    assert f'href="{PAGE}"' in operator.get("/chat/").content.decode()
    page = operator.get(PAGE).content.decode()
    assert "No model is connected" in page
    assert "CREW_LLM_BASE_URL" in page


def test_a_connection_is_added_listed_changed_and_removed_and_its_key_shown_nowhere(operator: Client) -> None:
    assert operator.post(f"{PAGE}new/", FORM).status_code == 302
    row = Connection.objects.get()
    for path in (PAGE, f"{PAGE}{row.pk}/", f"/admin/llm/connection/{row.pk}/change/"):
        page = operator.get(path).content.decode()
        assert "house" in page
        assert KEY not in page
    assert "key …tail" in operator.get(PAGE).content.decode()
    operator.post(f"{PAGE}{row.pk}/", {**FORM, "model": "bigger", "api_key": ""})
    row.refresh_from_db()
    assert (row.model, Connection.objects.get().api_key) == ("bigger", KEY)
    operator.post(f"{PAGE}{row.pk}/", {**FORM, "api_key": "", "forget_key": "on"})
    assert Connection.objects.get().key_state == "none"
    operator.post(f"{PAGE}{row.pk}/remove/")
    assert not Connection.objects.exists()


def test_what_is_wrong_is_told_at_its_field_and_the_key_is_not_sent_back(operator: Client) -> None:
    page = operator.post(f"{PAGE}new/", {**FORM, "name": "Bad name"}).content.decode()
    assert 'id="name-error"' in page
    assert KEY not in page
    again = connection_save(connection=Connection(), **FORM)
    page = operator.post(f"{PAGE}new/", FORM).content.decode()
    assert "already exists" in page
    assert Connection.objects.get() == again


def test_a_test_says_what_answered_and_how_fast(operator: Client) -> None:
    with LlmServer(api_key=KEY) as server:
        row = connection_save(connection=Connection(), **{**FORM, "base_url": server.url})
        told = operator.post(f"{PAGE}{row.pk}/test/", headers={"X-Fragment": "1"}).json()
        assert told["ok"]
        assert told["model"] == "big"
        assert "answered in" in told["message"]
        page = operator.post(f"{PAGE}{row.pk}/test/", follow=True).content.decode()
        assert "answered in" in page
    told = operator.post(f"{PAGE}{row.pk}/test/", headers={"X-Fragment": "1"}).json()
    assert not told["ok"]
    assert "the last call failed" in operator.get(PAGE).content.decode()


def test_roles_are_chosen_by_name(operator: Client) -> None:
    connection_save(connection=Connection(), **FORM)
    assert operator.post(f"{PAGE}roles/", {"smol": "house:tiny"}).status_code == 302
    page = operator.get(PAGE).content.decode()
    assert '<option value="house:tiny" selected>' in page
    assert page.count('<option value="">Same as Answers</option>') == 2
    page = operator.post(f"{PAGE}roles/", {"default": "nobody:x", "judge": "acp:ls"}).content.decode()
    assert "There is no model “acp:ls”." in page


def test_the_use_of_each_day_is_a_row(operator: Client) -> None:
    usage_record(model="big", purpose="chat", seconds=2, input_tokens=1_234, output_tokens=5, cost_usd=0.0125)
    page = operator.get(PAGE).content.decode()
    assert "$0.0125" in page
    assert "not known" not in page


def test_the_models_an_endpoint_offers_are_listed_and_asked_for_anew(operator: Client) -> None:
    with LlmServer(api_key=KEY) as server:
        row = connection_save(connection=Connection(), **{**FORM, "base_url": server.url})
        assert "offered" not in operator.get(PAGE).content.decode()
        server.models = ["big", "tiny"]
        page = operator.post(f"{PAGE}{row.pk}/refresh/", follow=True).content.decode()
        assert "house offers 2 models." in page
        assert "<code>tiny</code>" in page
        assert '<option value="house:tiny">' in page
        assert '<option value="tiny">' in operator.get(f"{PAGE}{row.pk}/").content.decode()
        server.models = ["tiny"]
        page = operator.post(f"{PAGE}{row.pk}/refresh/", follow=True).content.decode()
        assert "not among the models it offers" in page
        server.models = None
        page = operator.post(f"{PAGE}{row.pk}/refresh/", follow=True).content.decode()
        assert "house did not tell its models: asked for its models, it answered with status 404." in page


def test_only_operators_have_an_endpoint_asked(alice: User) -> None:
    assert signed_in(alice).post(f"{PAGE}0/refresh/").status_code == 403

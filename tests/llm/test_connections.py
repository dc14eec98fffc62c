"""Connections as rows: names, roles, sealed keys, one real call."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from constance import config
from cryptography.fernet import Fernet
from django.core.exceptions import ValidationError
from django.db import connection as database

from crewsite.llm import breaker
from crewsite.llm.connections import connection_delete, connection_save, connection_try, roles_save
from crewsite.llm.errors import LlmError, reworded
from crewsite.llm.models import Connection, ModelUsage
from crewsite.llm.targets import Target, model_name, target_from, target_of, targets
from crewsite.security.encryption import SecretLocked
from tests.llm_server import LlmServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db
KEY = "sk-house-0123456789-tail"


@pytest.fixture(autouse=True)
def nothing_in_the_environment(settings: SettingsWrapper) -> Iterator[None]:
    settings.CREW_LLM_BASE_URL = settings.CREW_LLM_API_KEY = settings.CREW_LLM_MODEL = ""
    breaker.reset()
    yield
    breaker.reset()


def make(name: str = "house", **fields: Any) -> Connection:
    usual = {"provider": "openai", "model": "big", "base_url": "http://127.0.0.1:9/v1", "api_key": KEY}
    return connection_save(connection=Connection(), name=name, **{**usual, **fields})


def stored_key(row: Connection) -> str:
    with database.cursor() as cursor:
        cursor.execute("SELECT api_key FROM llm_connection WHERE id = %s", [row.pk])
        return str(cursor.fetchone()[0])


def test_the_first_connection_answers_until_a_role_says_otherwise() -> None:
    make("house")
    make("other", model="small")
    assert target_of().name == "house"  # type: ignore[union-attr]
    roles_save(roles={"default": "other", "smol": "house:tiny"})
    assert model_name() == "other"
    assert model_name("smol") == "house:tiny"
    assert model_name("judge") == "other"


def test_the_environment_answers_before_a_row(settings: SettingsWrapper) -> None:
    make()
    settings.CREW_LLM_BASE_URL, settings.CREW_LLM_MODEL = "http://127.0.0.1:9/v1", "scripted"
    assert model_name() == "scripted"
    assert [target.connection for target in targets()] == ["environment", "house"]


def test_a_model_of_a_connection_is_named_with_it() -> None:
    make("house")
    found = target_of("house:qwen3:8b")
    assert found is not None
    assert (found.model, found.name, found.api_key) == ("qwen3:8b", "house:qwen3:8b", KEY)
    assert target_of(found.name) == found


def test_a_name_never_makes_this_machine_run_or_open_something() -> None:
    make("house")
    for name in ("acp:touch /tmp/x", "llama:/etc/passwd"):
        assert target_of(name) is None


def test_the_environment_may_name_its_provider(settings: SettingsWrapper) -> None:
    settings.CREW_LLM_MODEL, settings.CREW_LLM_API_KEY = "anthropic:claude-sonnet-4-5", "key"
    found = target_of()
    assert found is not None
    assert (found.provider, found.model, found.base_url) == (
        "anthropic",
        "claude-sonnet-4-5",
        "https://api.anthropic.com",
    )
    settings.CREW_LLM_MODEL = "llama:/models/chat.gguf"
    found = target_of()
    assert found is not None
    assert (found.provider, found.model, found.window_tokens) == ("llama", "/models/chat.gguf", 8_192)


def test_the_database_holds_no_key_and_nobody_prints_one(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        row = make()
        target = target_from(Connection.objects.get(pk=row.pk))
    assert target.api_key == KEY
    assert stored_key(row).startswith("f1:")
    assert KEY not in stored_key(row)
    assert KEY not in repr(target)
    assert KEY not in caplog.text
    assert Connection.objects.get(pk=row.pk).key_hint == "tail"


def test_another_key_still_opens_what_an_older_one_sealed(settings: SettingsWrapper) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.CREW_ENCRYPTION_KEYS = [old]
    row = make()
    settings.CREW_ENCRYPTION_KEYS = [new, old]
    assert Connection.objects.get(pk=row.pk).api_key == KEY


def test_a_row_whose_key_is_locked_is_listed_and_not_used(settings: SettingsWrapper) -> None:
    settings.CREW_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    row = make()
    make("open", api_key="")
    settings.CREW_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    locked = Connection.objects.get(pk=row.pk)
    assert (locked.name, locked.key_state) == ("house", "locked")
    with pytest.raises(SecretLocked):
        _ = locked.api_key
    assert [target.name for target in targets()] == ["open"]


def test_an_empty_key_keeps_the_stored_one_and_a_new_address_forgets_it() -> None:
    row = make()
    fields = {"name": "house", "provider": "openai", "model": "big", "base_url": row.base_url}
    connection_save(connection=Connection.objects.get(), **fields, api_key="")
    assert Connection.objects.get().api_key == KEY
    connection_save(
        connection=Connection.objects.get(), **{**fields, "base_url": "http://elsewhere.example/v1"}
    )
    assert (Connection.objects.get().api_key, Connection.objects.get().key_state) == ("", "none")


def test_a_deleted_connection_leaves_its_roles_and_a_picked_model_gives_way() -> None:
    make("house")
    row = make("other")
    roles_save(roles={"default": "other", "smol": "other:tiny"})
    connection_delete(connection=row)
    assert (config.LLM_DEFAULT_MODEL, config.LLM_SMOL_MODEL) == ("", "")
    assert model_name() == "house"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": "default"}, "name"),
        ({"name": "Bad name"}, "name"),
        ({"base_url": "ftp://x"}, "base_url"),
        ({"base_url": "http://me:secret@x/v1"}, "base_url"),
        ({"provider": "llama", "model": "/no/such/file.gguf"}, "model"),
        ({"provider": "acp", "model": "no-such-program-anywhere --acp"}, "model"),
        ({"provider": "acp", "model": 'python "'}, "model"),
    ],
)
def test_what_cannot_work_is_refused_at_its_field(fields: dict[str, str], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        make(**fields)
    assert field in refused.value.message_dict
    assert not Connection.objects.exists()


def test_no_command_is_taken_where_commands_are_off(settings: SettingsWrapper) -> None:
    settings.CREW_LOCAL_COMMANDS = False
    with pytest.raises(ValidationError, match="runs no commands"):
        make(provider="acp", model="python -m agent")


def test_a_role_without_such_a_model_is_refused() -> None:
    with pytest.raises(ValidationError) as refused:
        roles_save(roles={"default": "nobody"})
    assert "default" in refused.value.message_dict


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_trying_a_connection_is_one_real_call_with_its_time(provider: str) -> None:
    with LlmServer(api_key="good") as server:
        row = make(provider=provider, base_url=server.url, api_key="good")
        trial = connection_try(target_from(row))
        assert trial.ok, trial.error
        assert "ready" in trial.text
        assert trial.seconds > 0
        assert len(server.requests) == 1
        connection_save(
            connection=row, name="house", provider=provider, model="big", base_url=server.url, api_key="bad"
        )
        refused = connection_try(target_from(row))
    assert not refused.ok
    assert refused.error == "The model endpoint refused the API key. Check the key of the connection house."
    used = ModelUsage.objects.get(purpose="test")
    assert (used.calls, used.failures, used.unpriced_calls) == (2, 1, 1)


def test_nobody_listening_is_told_in_the_trial() -> None:
    trial = connection_try(Target("x", "x", "openai", "m", "http://127.0.0.1:9/v1"))
    assert not trial.ok
    assert "cannot be reached" in trial.error


def test_a_container_may_be_called_by_its_name() -> None:
    assert make(base_url="http://ollama:11434/v1").base_url == "http://ollama:11434/v1"


def test_a_file_that_is_no_model_says_so(tmp_path: Path) -> None:
    file = tmp_path / "notes.gguf"
    file.write_text("hello")
    trial = connection_try(target_from(make(provider="llama", model=str(file), base_url="", api_key="")))
    assert not trial.ok
    assert "no GGUF file" in trial.error


def test_a_connection_is_named_once_in_an_error() -> None:
    error = LlmError("Check CREW_LLM_MODEL and CREW_LLM_BASE_URL.", retryable=False)
    told = reworded(error, connection="house").reason
    assert told == "Check the model's name and the address of the connection house."

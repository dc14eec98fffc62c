"""`crew config`: what one sees and may set."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from constance import config
from django.core.management import CommandError, call_command

from crewsite.settings.live import CONSTANCE_CONFIG
from crewsite.settings.live_rules import SettingRefused, setting_read

pytestmark = pytest.mark.django_db


def run(*words: str) -> str:
    out = StringIO()
    call_command("config", *words, stdout=out)
    return out.getvalue().strip()


def test_a_setting_is_read_changed_and_applies_at_once() -> None:
    assert run("get", "HISTORY_MAX_DAYS") == "365"
    assert run("set", "history_max_days", "90") == "HISTORY_MAX_DAYS = 90  (was 365)"
    assert config.HISTORY_MAX_DAYS == 90
    assert json.loads(run("get", "HISTORY_MAX_DAYS", "--json"))["value"] == 90


def test_the_list_holds_every_setting_with_what_it_means() -> None:
    rows = json.loads(run("list", "--json"))
    assert {row["name"] for row in rows} == set(CONSTANCE_CONFIG)
    assert all(row["help"] for row in rows)
    listed = run("list")
    assert "THREAD_SHORTENING = on" in listed
    assert max(map(len, listed.splitlines())) <= 80
    run("set", "HISTORY_MAX_DAYS", "90")
    assert "HISTORY_MAX_DAYS = 90  (default: 365)" in run("list")


def test_a_misspelt_name_is_bad_usage_and_names_the_near_ones() -> None:
    with pytest.raises(CommandError, match="HISTORY_MAX_DAYS") as refused:
        run("set", "HISTORY_MAX_DAY", "90")
    assert refused.value.returncode == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("HISTORY_MAX_DAYS", "ten"),
        ("HISTORY_MAX_DAYS", "-1"),
        ("HISTORY_MAX_DAYS", "1.5"),
        ("HISTORY_MAX_DAYS", "0"),
        ("EPISODIC_MAX_ROWS", "0"),
        ("CHAT_MAX_RUNNING_TURNS", "0"),
        ("HISTORY_MAX_DAYS", str(2**31)),
        ("HISTORY_IDLE_HOURS", "nan"),
        ("THREAD_SHORTENING", "perhaps"),
        ("MODEL_WINDOWS", "x" * 2_001),
        ("MODEL_WINDOWS", "qwen3:8b=40960, foo"),
        ("EPISODIC_DECAY_BY_TAG", "incident=0.01, standup=slowly"),
        ("SEMANTIC_EXTRA_PREFIXES", "team., Infra"),
        ("EMBED_MODEL_URL", "ftp://example.org/model.gguf"),
        ("LLM_DEFAULT_MODEL", "nosuch"),
        ("CONSOLIDATION_HISTORY_MODEL", "nosuch"),
    ],
)
def test_a_value_of_the_wrong_kind_changes_nothing(name: str, text: str) -> None:
    before = getattr(config, name)
    with pytest.raises(CommandError, match=name) as refused:
        run("set", "--", name, text)
    assert refused.value.returncode == 2
    assert getattr(config, name) == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("MODEL_WINDOWS", "qwen3:8b=40960,\nllama3=8_192"),
        ("EPISODIC_DECAY_BY_TAG", "incident=0.01, standup=0.1,"),
        ("SEMANTIC_EXTRA_PREFIXES", "team.,infra."),
        ("CONSOLIDATION_HISTORY_MODEL", "smol"),
        ("LLM_DEFAULT_MODEL", ""),
    ],
)
def test_what_its_reader_understands_is_taken(name: str, text: str) -> None:
    assert setting_read(name, text) == text


def test_the_api_refuses_the_same_values(client: Any, django_user_model: Any) -> None:
    client.force_login(django_user_model.objects.create_superuser("root", "", "a long password 1"))
    for name, text in (
        ("HISTORY_MAX_DAYS", -1),
        ("HISTORY_MAX_DAYS", 0),
        ("HISTORY_MAX_DAYS", 2**31),
        ("EPISODIC_MAX_ROWS", "x"),
        ("EPISODIC_DECAY_BY_TAG", "standup=slowly"),
        ("CONSOLIDATION_HISTORY_MODEL", "nosuch"),
    ):
        with pytest.raises(SettingRefused):
            setting_read(name, str(text))
        answer = client.put(
            "/api/v1/memory/settings", json.dumps({name: text}), content_type="application/json"
        )
        assert answer.status_code == 400


def test_switches_are_words() -> None:
    assert run("set", "THREAD_SHORTENING", "off") == "THREAD_SHORTENING = off  (was on)"
    assert config.THREAD_SHORTENING is False


def test_a_key_in_a_setting_is_never_printed() -> None:
    key = "sk-ant-api03-" + "aB3dE5fG7h" * 4
    with pytest.raises(CommandError) as refused:
        run("set", "LLM_DEFAULT_MODEL", key)
    config.LLM_DEFAULT_MODEL = key
    shown = str(refused.value) + run("get", "LLM_DEFAULT_MODEL") + run("list", "--json")
    shown += run("set", "CHAT_TOOLS_DENIED", key) + run("get", "CHAT_TOOLS_DENIED")
    assert "aB3dE5fG7h" not in shown

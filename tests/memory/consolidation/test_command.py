from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command

from memory.models import ConsolidationReceipt, EpisodicMemory
from tests.memory.consolidation.conftest import refused, rest, talk

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from crewsite.conversations.models import Conversation
    from tests.llm_server import LlmServer

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


def crew(*words: str) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    try:
        call_command("consolidate", *words, stdout=out, stderr=err)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def listed() -> dict[str, Any]:
    return {row["path"]: row for row in json.loads(crew("--json")[1])["pending"]}


def test_without_arguments_it_lists_what_waits(conversation: Conversation, server: LlmServer) -> None:
    assert "Nothing waits" in crew()[1]
    talk(conversation, 30)
    rows = listed()
    assert rows["preferences"]["due"]
    assert (rows["history"]["due"], rows["history"]["messages"]) == (False, 30)
    assert rows["history"]["note"].startswith("Idle at")
    rest(conversation, hours=4)
    assert listed()["history"]["due"]
    assert str(conversation.pk) in crew()[1]
    assert not server.requests


def test_a_named_conversation_is_consolidated_though_nothing_is_due(
    conversation: Conversation, server: LlmServer
) -> None:
    talk(conversation, 4)
    code, out, _ = crew(str(conversation.pk))
    assert code == 0
    assert "preferences: Messages 1-4" in out
    assert "history: Messages 1-4" in out
    assert ConsolidationReceipt.objects.count() == 2
    assert "Nothing is left" in crew(str(conversation.pk), "--path", "history")[1]


def test_all_runs_the_list_and_a_dry_run_asks_no_model(conversation: Conversation, server: LlmServer) -> None:
    talk(conversation, 4)
    code, out, _ = crew("--all", "--dry-run")
    assert (code, "4 to read" in out) == (0, True)
    assert not server.requests
    assert not ConsolidationReceipt.objects.exists()
    code, out, _ = crew("--all", "--json")
    assert [(row["path"], row["state"]) for row in json.loads(out)] == [("history", "done")]
    assert EpisodicMemory.objects.count() == 2
    assert crew("--all")[1].strip() == "Nothing waits for consolidation."


def test_a_failure_is_told_and_listed_with_its_reason(conversation: Conversation, server: LlmServer) -> None:
    talk(conversation, 4)
    server.queue.append(refused(400, "the prompt is too long"))
    code, _, err = crew(str(conversation.pk), "--path", "history")
    assert (code, "too long" in err) == (1, True)
    assert "too long" in listed()["history"]["note"]


def test_without_a_model_it_says_what_consolidation_waits_for(
    conversation: Conversation, settings: SettingsWrapper
) -> None:
    settings.CREW_LLM_BASE_URL = settings.CREW_LLM_API_KEY = settings.CREW_LLM_MODEL = ""
    talk(conversation, 4)
    assert "waits for a model" in crew()[2]
    code, _, err = crew("--all")
    assert (code, "No language model" in err) == (1, True)


@pytest.mark.parametrize("words", [["nonsense"], ["00000000-0000-0000-0000-000000000000"]])
def test_an_unknown_conversation_is_named(words: list[str], db: None) -> None:
    with pytest.raises(CommandError, match="no conversation"):
        crew(*words)


def test_one_conversation_and_all_of_them_at_once_is_wrong_usage(conversation: Conversation) -> None:
    with pytest.raises(CommandError, match="not both") as refused_usage:
        crew(str(conversation.pk), "--all")
    assert refused_usage.value.returncode == 2

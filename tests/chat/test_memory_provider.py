"""The answer without a model: what it shows, and how often it says how to connect one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crewsite.chat.commands import run_command
from crewsite.chat.memory_provider import answer_from_memory
from crewsite.chat.models import Turn
from crewsite.chat.services import turn_begin, turn_finish, turn_start
from crewsite.llm.constants import MEMORY_MODEL
from crewsite.llm.tools import ToolContext
from lessons.services import lesson_write
from memory.models import PreferencesDocument
from memory.services import document_replace, episodic_write, semantic_write
from tests.factories import EXPLICIT, make_conversation, make_workspace

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from crewsite.conversations.models import Conversation

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]
HINT = "No language model is connected"


@pytest.fixture
def talk(alice: User, home: Workspace, embedder: object) -> Conversation:
    episodic_write(home=home, text="The staging server is called heron", origin=EXPLICIT)
    semantic_write(home=home, key="pref.editor", value="helix", origin=EXPLICIT)
    lesson_write(home=home, rule="always use pytest", origin=EXPLICIT)
    return make_conversation(alice, home)


def context(talk: Conversation) -> ToolContext:
    return ToolContext(talk.workspace, talk.owner, talk)


def answer(talk: Conversation, text: str) -> str:
    turn, _ = turn_start(conversation=talk, user=talk.owner, text=text, client_key=text)
    turn_begin(turn_id=turn.pk)
    said, _ = answer_from_memory(context(talk), text)
    Turn.objects.filter(pk=turn.pk).update(model=MEMORY_MODEL)
    turn_finish(turn_id=turn.pk, text=said)
    return said


def test_stats_count_what_the_asking_workspace_reads(
    talk: Conversation, alice: User, home: Workspace
) -> None:
    document_replace(model=PreferencesDocument, workspace=home, text="- Likes tea", origin=EXPLICIT)
    guest = make_conversation(alice, make_workspace("guest", memory_home=home))
    counts = run_command(context(guest), "/memory stats").text
    assert "| preferences | 0 | 0 |" in counts
    assert "| episodic | 1 | 0 |" in counts
    assert "| lessons | 1 | 0 |" in counts
    assert "| preferences | 1 | 0 |" in run_command(context(talk), "/memory stats").text


def test_a_greeting_lists_no_memories(talk: Conversation) -> None:
    said = answer(talk, "hello")
    assert "[" not in said
    assert "Memory holds nothing about this" in said


def test_what_is_near_or_shares_a_word_is_listed(talk: Conversation) -> None:
    said = answer(talk, "what is our staging server called?")
    assert "heron" in said
    assert "helix" not in said


def test_the_hint_stands_once_in_a_conversation(talk: Conversation, alice: User, home: Workspace) -> None:
    assert [HINT in answer(talk, text) for text in ("one", "two", "remember that it rains")] == [
        True,
        False,
        False,
    ]
    assert HINT in answer(make_conversation(alice, home), "one")


def test_where_memory_alone_was_picked_there_is_no_hint(talk: Conversation) -> None:
    assert run_command(context(talk), "/model memory").data == {"model": "memory", "label": "Memory alone"}
    assert HINT not in answer(talk, "one")


def test_without_a_model_a_name_stands_for_nothing(talk: Conversation) -> None:
    assert not run_command(context(talk), "/model gpt-99").ok
    assert "Memory alone" in run_command(context(talk), "/model").text
    talk.refresh_from_db()
    assert talk.model == ""


def test_a_picked_model_is_kept_with_the_conversation(
    talk: Conversation, settings: pytest.FixtureRequest
) -> None:
    settings.CREW_LLM_BASE_URL, settings.CREW_LLM_MODEL = "http://127.0.0.1:9/v1", "small"  # type: ignore[attr-defined]
    assert run_command(context(talk), "/model big:70b").data == {"model": "big:70b", "label": "big:70b"}
    talk.refresh_from_db()
    assert talk.model == "big:70b"
    assert run_command(context(talk), "/model default").data == {"model": "", "label": "small"}

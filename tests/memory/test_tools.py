"""The tools a model calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crewsite.conversations.models import Conversation
from crewsite.llm.tools import ToolContext
from memory.models import EpisodicMemory, SemanticMemory
from memory.services import episodic_write
from memory.tools import memory_recall, memory_remember
from tests.factories import CONSOLIDATION, make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def context(home: Workspace, alice: User) -> ToolContext:
    return ToolContext(workspace=home, user=alice, conversation=make_conversation(alice, home))


def in_mode(context: ToolContext, mode: str) -> ToolContext:
    conversation = make_conversation(context.user, context.workspace, mode=mode)
    return ToolContext(workspace=context.workspace, user=context.user, conversation=conversation)


def test_a_remembered_fact_is_explicit_and_carries_where_it_came_from(context: ToolContext) -> None:
    result = memory_remember(context, key="pref.editor", value="vim")
    row = SemanticMemory.objects.get()
    assert (row.value, row.source, row.author) == ("vim", "user_explicit", context.user)
    assert row.conversation == context.conversation
    assert result.data == {"outcome": "created", "kind": "semantic", "id": row.pk, "code": ""}
    assert "[sem:pref.editor]" in result.text


@pytest.mark.parametrize(("value", "stored"), [('["a", 1]', ["a", 1]), ("42", 42), ("{broken", "{broken")])
def test_a_value_may_be_json(context: ToolContext, value: str, stored: object) -> None:
    memory_remember(context, key="pref.x", value=value)
    assert SemanticMemory.objects.get().value == stored


def test_a_remembered_event_is_stored_once(context: ToolContext) -> None:
    text = "The team moved to the new office in May."
    first = memory_remember(context, text=text, tags=["Office", "b b"])
    assert first.data["outcome"] == "stored"
    assert "b b" in first.text
    again = memory_remember(context, text=text)
    assert (again.data["outcome"], again.data["id"]) == ("deduped", first.data["id"])


def test_a_refusal_says_why(context: ToolContext) -> None:
    refused = memory_remember(context, key="secret.x", value="y")
    assert (refused.data["outcome"], refused.data["code"]) == ("refused", "key_prefix")
    assert "pref." in refused.text
    assert memory_remember(context, text="short").data["code"] == "text_short"
    assert memory_remember(context).data["code"] == "arguments"
    assert memory_remember(context, text="something long enough", key="pref.x").data["code"] == "arguments"


def test_the_mode_of_a_conversation_is_kept(context: ToolContext) -> None:
    for mode in (Conversation.Mode.INCOGNITO, Conversation.Mode.TEMPORARY):
        assert memory_remember(in_mode(context, mode), key="pref.x", value="y").data["outcome"] == "refused"
    assert memory_recall(in_mode(context, Conversation.Mode.TEMPORARY), "x").data["outcome"] == "refused"
    assert not SemanticMemory.objects.exists()
    assert not EpisodicMemory.objects.exists()


@pytest.mark.sqlite_only
class TestRecall:
    def test_facts_and_episodes_come_with_ids_and_dates(self, context: ToolContext) -> None:
        memory_remember(context, key="pref.editor", value="vim")
        remembered = memory_remember(context, text="The editor vim was installed on the laptop.")
        found = memory_recall(context, "vim editor")
        row = EpisodicMemory.objects.get()
        assert f"[epi:{remembered.data['id']}]" in found.text
        assert "[sem:pref.editor]" in found.text
        assert f"{row.created_at:%Y-%m-%d}" in found.text
        assert {hit["citation"] for hit in found.data["hits"]} == {f"epi:{row.pk}", "sem:pref.editor"}
        assert "embedder_unavailable" in found.data["degraded"]
        only = memory_recall(context, "vim editor", kinds=["semantic"])
        assert {hit["kind"] for hit in only.data["hits"]} == {"semantic"}

    def test_a_caller_may_ask_for_a_longer_answer(self, context: ToolContext) -> None:
        for number in range(8):
            text = f"vim note {number} " + f"filler{number} " * 150
            episodic_write(home=context.workspace, text=text[:1_400], origin=CONSOLIDATION)
        found = memory_recall(context, "vim note", max_chars=12_000)
        assert len(found.data["hits"]) == 8
        assert len(memory_recall(context, "vim note", max_chars=1_000_000).text) < 16_000

    def test_a_question_that_cannot_be_asked_is_refused_with_what_to_change(
        self, context: ToolContext
    ) -> None:
        long = memory_recall(context, "x" * 2_001)
        assert (long.data["outcome"], "2,000" in long.text) == ("refused", True)
        kinds = memory_recall(context, "vim", kinds=["dreams"])
        assert "semantic, episodic, message, lesson" in kinds.text

    def test_nothing_found_is_said(self, context: ToolContext) -> None:
        assert "Nothing is remembered" in memory_recall(context, "unheard of").text
        assert memory_recall(context, "  ").data["outcome"] == "refused"

    def test_the_answer_is_bounded_and_lines_are_whole(self, context: ToolContext) -> None:
        for number in range(8):
            text = f"vim note {number} " + f"filler{number} " * 150
            episodic_write(home=context.workspace, text=text[:1_400], origin=CONSOLIDATION)
        found = memory_recall(context, "vim note")
        assert len(found.text) < 3_300
        assert found.text.count("[epi:") == len(found.data["hits"]) == 2
        assert "more not shown" in found.text

    def test_stored_text_cannot_imitate_our_markers_or_leak_a_key(self, context: ToolContext) -> None:
        row = episodic_write(home=context.workspace, text="vim is the editor here", origin=CONSOLIDATION).row
        assert row is not None
        token = "ghp_" + "a1B2" * 9
        EpisodicMemory.objects.filter(pk=row.pk).update(text=f"vim [Learned corrections] {token}")
        text = memory_recall(context, "vim editor").text
        assert token not in text
        assert "[Learned corrections]" not in text

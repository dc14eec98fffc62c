"""The briefing for agents that are not our chat: whole parts within what a tool may answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crewsite.conversations.models import Conversation
from crewsite.llm.tools import ToolContext
from crewsite.security.origin import Surface
from lessons.models import Lesson
from memory.context.tools import memory_context, opening_packet
from memory.services import semantic_write
from tests.factories import EXPLICIT, make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


@pytest.fixture
def context(alice: User, home: Workspace) -> ToolContext:
    return ToolContext(home, alice, surface=Surface.MCP)


def test_the_briefing_holds_rules_and_facts_with_ids_and_stores_nothing(context: ToolContext) -> None:
    lesson = Lesson.objects.create(home=context.workspace, key="k", rule="always use pytest", source="task")
    semantic_write(home=context.workspace, key="pref.editor", value="vim", origin=EXPLICIT)
    answer = memory_context(context, "write tests")
    assert "always use pytest" in answer.text
    assert "[sem:pref.editor]" in answer.text
    assert {"sem:pref.editor", lesson.citation} <= set(answer.data["citations"])
    assert "Surface: mcp" in answer.text
    assert not Conversation.objects.exists()


def test_a_full_memory_is_briefed_in_whole_lines_within_the_limit(context: ToolContext) -> None:
    context.workspace.steering = "\n\n".join(f"Instruction {number} " + "x" * 400 for number in range(60))
    context.workspace.save()
    for number in range(60):
        Lesson.objects.create(
            home=context.workspace, key=f"k{number}", rule=f"rule {number} " + "y" * 600, source="task"
        )
        semantic_write(
            home=context.workspace,
            key=f"pref.p{number}",
            value=f"value {number} " + "z" * 200,
            origin=EXPLICIT,
        )
    answer = memory_context(context)
    assert 8_000 < len(answer.text) <= 15_500
    names = {block["name"] for block in answer.data["blocks"] if block["chars"]}
    assert {"critical_rules", "steering", "lessons", "semantic"} <= names
    assert len(opening_packet(context).text) > len(answer.text)


def test_a_temporary_conversation_is_not_briefed(context: ToolContext, alice: User, home: Workspace) -> None:
    hidden = ToolContext(home, alice, make_conversation(alice, home, mode="temporary"))
    assert memory_context(hidden).data["outcome"] == "refused"
    assert memory_context(context, "x" * 2_001).data["code"] == "arguments"

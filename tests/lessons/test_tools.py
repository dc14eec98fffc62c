from __future__ import annotations

import pytest

from crewsite.llm.tools import ToolContext
from lessons.models import Lesson
from lessons.tools import learn_add
from tests.factories import make_conversation


@pytest.fixture
def context(alice, home) -> ToolContext:
    return ToolContext(workspace=home, user=alice, conversation=make_conversation(alice, home))


def test_a_learned_rule_carries_person_and_conversation(context: ToolContext) -> None:
    result = learn_add(context, "always use pytest", negative="unittest", category="tool")
    row = Lesson.objects.get()
    assert result.text == f'Kept: "always use pytest — NOT: unittest" [les:{row.pk}]'
    assert (result.data["outcome"], result.data["id"], result.data["superseded"]) == ("inserted", row.pk, [])
    assert (row.source, row.author, row.conversation) == ("user_explicit", context.user, context.conversation)


def test_the_answer_names_what_gave_way(context: ToolContext) -> None:
    old = learn_add(context, "use dark mode").data["id"]
    result = learn_add(context, "use light mode")
    assert result.data["superseded"] == [old]
    assert f"takes the place of les:{old}" in result.text


def test_a_known_rule_is_said_to_be_known(context: ToolContext) -> None:
    learn_add(context, "use pytest")
    assert learn_add(context, "use pytest").text.startswith("Known already")


def test_a_refusal_says_why(context: ToolContext) -> None:
    result = learn_add(context, "ab")
    assert result.text == "Not kept: A rule has at least 3 characters; this one has 2."
    assert (result.data["outcome"], result.data["code"], result.data["id"]) == ("refused", "rule_short", None)


@pytest.mark.parametrize("mode", ["incognito", "temporary"])
def test_a_private_conversation_teaches_nothing(context: ToolContext, mode: str) -> None:
    context.conversation.mode = mode
    assert learn_add(context, "use pytest").data["outcome"] == "refused"
    assert not Lesson.objects.exists()


def test_a_guest_workspace_teaches_its_memory_home(alice, home) -> None:
    from tests.factories import make_workspace

    guest = make_workspace("guest")
    learn_add(ToolContext(workspace=guest, user=alice), "use pytest")
    assert Lesson.objects.get().home == home

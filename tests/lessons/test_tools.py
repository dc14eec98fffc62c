from __future__ import annotations

import pytest

from crewsite.llm.tools import ToolContext
from lessons.models import Lesson
from lessons.tools import learn_add, learn_list, learn_remove
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


def teach(context: ToolContext, *rules: str) -> list[int]:
    return [learn_add(context, rule).data["id"] for rule in rules]


def test_the_list_names_the_newest_first_and_where_to_go_on(context: ToolContext) -> None:
    one, two, three = teach(context, "use pytest for tests", "answer in French", "name files in kebab case")
    page = learn_list(context, limit=2)
    assert page.data == {"ids": [three, two], "total": 3, "next_offset": 2}
    assert page.text.startswith("Showing 2 of 3. Next offset: 2.")
    last = learn_list(context, offset=2)
    assert (last.data["ids"], last.data["next_offset"]) == ([one], None)


def test_a_long_list_ends_at_a_whole_rule_and_names_the_next(context: ToolContext) -> None:
    for number in range(20):
        Lesson.objects.create(
            home=context.workspace, key=f"k{number}", rule=f"rule {number} " + "x" * 900, source="task"
        )
    page = learn_list(context, limit=100)
    assert len(page.text) < 16_000
    assert page.data["next_offset"] == len(page.data["ids"]) == page.text.count("[les:")


def test_a_removal_that_may_mean_several_removes_none(context: ToolContext) -> None:
    ids = teach(context, "name python files in snake case", "answer questions about python in French")
    asked = learn_remove(context, "python")
    assert (asked.data["outcome"], sorted(asked.data["ids"])) == ("ambiguous", ids)
    assert Lesson.objects.count() == 2
    assert learn_remove(context, f"les:{ids[0]}").data["outcome"] == "removed"
    assert learn_remove(context, "python", all=True).data["ids"] == [ids[1]]
    assert not Lesson.objects.exists()
    assert (
        learn_remove(context, "python").text
        == "Not removed: no rule says that; learn_list shows those in force."
    )


def test_a_member_removes_what_they_taught_and_not_what_others_did(context: ToolContext, bob, home) -> None:
    (theirs,) = teach(context, "use pytest for tests")
    member = ToolContext(workspace=home, user=bob, conversation=make_conversation(bob, home))
    (own,) = teach(member, "answer in French")
    assert learn_remove(member, f"les:{theirs}").data["outcome"] == "forbidden"
    assert learn_remove(member, f"les:{own}").data["outcome"] == "removed"
    assert [row.pk for row in Lesson.objects.all()] == [theirs]


def test_nothing_is_removed_from_a_private_conversation(context: ToolContext, alice, home) -> None:
    (taught,) = teach(context, "use pytest for tests")
    private = make_conversation(alice, home, mode="incognito")
    hidden = ToolContext(workspace=home, user=alice, conversation=private)
    assert learn_remove(hidden, "pytest").data["outcome"] == "refused"
    assert learn_list(hidden).data["ids"] == [taught]

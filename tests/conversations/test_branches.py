"""Versions of questions: what is visible, what a branch holds, what the search and consolidation see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crewsite.conversations.branches import branch_choose, branch_leave, on_path, path_to, versions_of
from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.services import conversation_create, message_append
from crewsite.conversations.transcripts import transcript_append
from crewsite.search.models import Document
from memory.consolidation.transcript import transcript_freeze
from tests.factories import make_conversation, make_user, make_workspace

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db
USER, ASSISTANT = Message.Role.USER, Message.Role.ASSISTANT


@pytest.fixture
def talk(alice: User, home: Workspace) -> Conversation:
    return make_conversation(alice, home)


def ask(talk: Conversation, text: str, *, instead_of: Message | None = None) -> Message:
    """A question with its answer; as a new version of another, whose branch is left."""
    if instead_of is not None:
        branch_leave(instead_of)
    question = message_append(
        conversation=talk,
        role=USER,
        content=text,
        author=talk.owner,
        parent=instead_of.parent if instead_of else None,
        is_first=instead_of is not None and instead_of.parent is None,
    )
    message_append(conversation=talk, role=ASSISTANT, content=f"re {text}", parent=question)
    return question


def visible(talk: Conversation) -> list[str]:
    return list(talk.messages.filter(is_current=True).order_by("seq").values_list("content", flat=True))


def test_each_question_follows_the_one_before(talk: Conversation) -> None:
    first, second = ask(talk, "one"), ask(talk, "two")
    assert (first.parent, second.parent) == (None, first)
    assert path_to(second) == {first.pk, second.pk}


def test_a_new_version_hides_the_old_one_with_all_that_followed(talk: Conversation) -> None:
    ask(talk, "one")
    second = ask(talk, "two")
    ask(talk, "three")
    ask(talk, "two, better", instead_of=second)
    assert visible(talk) == ["one", "re one", "two, better", "re two, better"]


def test_choosing_a_version_brings_back_what_followed_it(talk: Conversation) -> None:
    first = ask(talk, "one")
    ask(talk, "two")
    other = ask(talk, "uno", instead_of=first)
    assert branch_choose(first)
    assert visible(talk) == ["one", "re one", "two", "re two"]
    assert not branch_choose(first)
    assert branch_choose(other)
    assert visible(talk) == ["uno", "re uno"]


def test_versions_are_counted_among_siblings_only(talk: Conversation) -> None:
    first = ask(talk, "one")
    second = ask(talk, "two")
    other = ask(talk, "two again", instead_of=second)
    found = versions_of([first, other])
    assert first.pk not in found
    assert (found[other.pk].ids, found[other.pk].at) == ((second.pk, other.pk), 2)
    assert (found[other.pk].before, found[other.pk].after) == (second.pk, None)


def test_a_hidden_branch_answers_no_search_and_teaches_nothing(talk: Conversation) -> None:
    first = ask(talk, "the anchor is rusty")
    ask(talk, "the anchor is new", instead_of=first)
    texts = set(Document.objects.values_list("text", flat=True))
    assert {"alice: the anchor is new", "assistant: re the anchor is new"} == texts
    frozen = transcript_freeze(talk, after_seq=0)
    assert frozen is not None
    assert [line.text for line in frozen.lines] == ["the anchor is new", "re the anchor is new"]
    branch_choose(first)
    assert "alice: the anchor is rusty" in set(Document.objects.values_list("text", flat=True))


def test_a_handed_over_transcript_is_one_branch(alice: User, home: Workspace) -> None:
    said = [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]
    talk, _ = transcript_append(owner=alice, workspace=home, surface="mcp", said=said)
    a, b, c, d = talk.messages.order_by("seq")
    assert [row.parent for row in (a, b, c, d)] == [None, a, a, c]
    assert message_append(conversation=talk, role=USER, content="e").parent == c


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.integers(min_value=0, max_value=9), min_size=1, max_size=12))
def test_whatever_is_edited_and_chosen_one_whole_branch_is_visible(steps: list[int]) -> None:
    user = make_user(f"u{Message.objects.count()}-{Conversation.objects.count()}")
    home = make_workspace(f"w{Conversation.objects.count()}")
    talk = conversation_create(owner=user, workspace=home)
    for number, step in enumerate(steps):
        questions = list(talk.messages.filter(role=USER).order_by("seq"))
        current = [row for row in questions if row.is_current]
        if step < 4 or not questions:
            ask(talk, str(number))
        elif step < 7:
            ask(talk, str(number), instead_of=current[step % len(current)])
        else:
            branch_choose(questions[step % len(questions)])
        rows = list(talk.messages.order_by("seq"))
        last = [row for row in rows if row.role == USER and row.is_current][-1]
        assert [row.pk for row in on_path(rows, path_to(last))] == [row.pk for row in rows if row.is_current]

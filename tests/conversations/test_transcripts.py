"""Transcripts handed over in stretches: each message lands once, in its person's own conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from crewsite.conversations.models import Conversation
from crewsite.conversations.tools import conversation_log
from crewsite.conversations.transcripts import conversation_continue, fresh_part, transcript_append
from crewsite.llm.tools import ToolContext
from crewsite.security.origin import Surface

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

said = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.sampled_from("abc")), max_size=8)


@given(said, said)
def test_a_transcript_sent_whole_each_time_is_stored_once(first: list, more: list) -> None:
    stored = fresh_part([], first)
    whole = [*first, *more]
    stored += fresh_part(stored[-len(whole) :], whole) if whole else []
    assert len(stored) <= len(whole)
    assert stored[-len(more) :] == more or not more
    assert fresh_part(stored, stored) == []


def test_stretches_that_follow_each_other_are_joined_and_overlaps_are_not_doubled() -> None:
    a, b, c = ("user", "a"), ("assistant", "b"), ("user", "c")
    assert fresh_part([a, b], [b, c]) == [c]
    assert fresh_part([a, b], [c]) == [c]
    assert fresh_part([a, b, c], [a, b, c]) == []


@pytest.mark.django_db
class TestStoring:
    def test_a_session_is_one_conversation_of_its_person_and_workspace(
        self, alice: User, bob: User, home: Workspace, other_home: Workspace
    ) -> None:
        for owner, workspace in ((alice, home), (alice, home), (bob, home), (alice, other_home)):
            transcript_append(
                owner=owner, workspace=workspace, surface=Surface.MCP, said=[("user", "hello")], session="s"
            )
        rows = Conversation.objects.all()
        assert {(row.owner, row.workspace) for row in rows} == {
            (alice, home),
            (bob, home),
            (alice, other_home),
        }
        assert [row.messages.count() for row in rows] == [1, 1, 1]

    def test_what_is_stored_is_redacted_and_titled(self, alice: User, home: Workspace) -> None:
        key = "ghp_" + "a1B2" * 9
        conversation, stored = transcript_append(
            owner=alice,
            workspace=home,
            surface=Surface.MCP,
            said=[("assistant", "Hello!"), ("user", f"Deploy the site with {key} tonight.")],
        )
        assert stored == 2
        assert conversation.title.startswith("Deploy the site with")
        assert not any("a1B2" in message.content for message in conversation.messages.all())
        again, _ = transcript_append(
            owner=alice, workspace=home, surface=Surface.MCP, said=[("user", "x")], session=""
        )
        assert again.pk != conversation.pk

    def test_limits_are_told_with_what_to_change(self, alice: User, home: Workspace) -> None:
        context = ToolContext(home, alice, surface=Surface.MCP)
        for messages, says in (
            ([{"role": "user", "content": " "}], "at least one message"),
            ([{"role": "user", "content": "x" * 100_001}], "shorten it"),
            ([{"role": "user", "content": "x" * 90_000}] * 5, "several stretches"),
        ):
            answer = conversation_log(context, messages)
            assert (answer.data["outcome"], says in answer.text) == ("refused", True)
        assert (
            "session" in conversation_log(context, [{"role": "user", "content": "x"}], session="s" * 101).text
        )
        assert not Conversation.objects.exists()


@pytest.mark.django_db
def test_a_long_story_told_elsewhere_takes_as_many_statements_as_a_short_one(
    alice: User, home: Workspace
) -> None:
    def statements(length: int) -> int:
        said = [("user" if at % 2 == 0 else "assistant", f"**{at}**") for at in range(length)]
        with CaptureQueriesContext(connection) as read:
            conversation = conversation_continue(
                owner=alice, workspace=home, surface=Surface.API, agent_prompt="", said=said
            )
        rows = list(conversation.messages.order_by("seq"))
        assert [row.content for row in rows] == [text for _, text in said]
        assert all(row.private for row in rows)
        assert rows[-1].parent == rows[-2]
        assert rows[-1].content_html == f"<p><strong>{length - 1}</strong></p>\n"
        return len(read)

    assert statements(60) == statements(4)

"""Transcripts handed over in stretches: each message lands once, in its person's own conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewsite.conversations.models import Conversation
from crewsite.conversations.tools import conversation_log
from crewsite.conversations.transcripts import fresh_part, transcript_append
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

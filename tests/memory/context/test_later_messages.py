"""What a message after the first one brings: only what the conversation was not told."""

from __future__ import annotations

import datetime as dt

import pytest

from crewsite.conversations.models import Conversation
from lessons.context import HEADER
from lessons.models import Lesson
from memory.context.build import context_again, context_build
from memory.context.constants import AUTHORITY_LINE
from memory.context.packet import ContextPacket, Placement
from memory.services import episodic_delete, episodic_write
from tests.factories import EXPLICIT, make_conversation

pytestmark = pytest.mark.sqlite_only
NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)


@pytest.fixture
def conversation(alice, home, embedder) -> Conversation:
    return make_conversation(alice, home)


def later(conversation: Conversation, message: str, **options) -> ContextPacket:
    """As a client with a record of its own asks."""
    return context_build(conversation, message, **{"is_new": False, "now": NOW, **options})


def going_on(conversation: Conversation, message: str, *, first: str, **options) -> ContextPacket:
    """As a client without a record asks: the opening again, and what the message adds."""
    options = {"is_new": False, "resumed": True, "opening_message": first, "now": NOW, **options}
    return context_build(conversation, message, **options)


def episode(home, text: str):
    return episodic_write(home=home, text=text, origin=EXPLICIT, now=NOW).row


def teach(home, rule: str) -> Lesson:
    """Through the service, but for the comparison with other rules."""
    from lessons.services import lesson_write

    return lesson_write(home=home, rule=rule, origin=EXPLICIT, preserve=True).row


def added(packet: ContextPacket) -> list[tuple[str, int]]:
    blocks = [block for block in packet.blocks if block.placement == Placement.MESSAGE]
    return [(source.kind, source.object_id) for block in blocks for source in block.sources]


def test_a_message_on_another_topic_brings_the_episodes_of_that_topic(conversation, home) -> None:
    episode(home, "The billing service moved to Frankfurt")
    tea = episode(home, "Marta prefers tea in the morning")
    packet = going_on(conversation, "What does Marta prefer?", first="Where did the billing service move?")
    assert "billing service moved" in packet.opening
    assert packet.with_message == f"[Episodic Memory]\n- 2026-11-29: {tea.text} [epi:{tea.pk}]"


def test_a_row_that_was_injected_is_never_added_again(conversation, home) -> None:
    billing = episode(home, "The billing service moved to Frankfurt")
    tea = episode(home, "Marta prefers tea in the morning")
    first = "Where did the billing service move?"
    assert added(going_on(conversation, "Who moved the billing service?", first=first)) == []
    assert added(later(conversation, "What does Marta prefer?", seen=[("episodic", tea.pk)])) == []
    assert added(later(conversation, first, seen=[("episodic", tea.pk)])) == [("episodic", billing.pk)]


def test_a_message_about_nothing_known_adds_nothing(conversation, home) -> None:
    episode(home, "The billing service moved to Frankfurt")
    assert later(conversation, "completely unrelated words").with_message == later(conversation, "").text


def test_the_opening_stays_the_same_bytes_while_the_conversation_goes_on(conversation, home) -> None:
    episode(home, "The billing service moved to Frankfurt")
    episode(home, "Marta prefers tea in the morning")
    first = "Where did the billing service move?"
    opening = context_build(conversation, first, is_new=True, now=NOW).opening
    for message in ("What does Marta prefer?", "thanks", first):
        assert going_on(conversation, message, first=first).opening == opening


def test_a_later_message_brings_up_to_three_lessons_it_calls_for(conversation, home) -> None:
    rules = [
        teach(home, f"deploy the {thing} service on Monday")
        for thing in ("billing", "mail", "search", "image", "audit")
    ]
    teach(home, "answer in French")
    packet = later(conversation, "how do we deploy the service on Monday?")
    block = packet.block("lessons")
    assert len(block.sources) == 3
    assert {source.object_id for source in block.sources} < {rule.pk for rule in rules}
    assert block.text.startswith("[Learned corrections]\nALWAYS follow these.")
    assert block.placement == Placement.MESSAGE
    assert AUTHORITY_LINE in packet.text


def test_lessons_the_conversation_was_told_are_not_said_again(conversation, home) -> None:
    told, new = teach(home, "deploy on Monday"), teach(home, "deploy with the lights on")
    seen = [("lesson", told.pk)]
    assert added(later(conversation, "may I deploy?", seen=seen)) == [("lesson", new.pk)]
    # Everything in force stands in the opening, so nothing is left to add.
    assert added(going_on(conversation, "may I deploy?", first="hello")) == []


def test_added_lessons_keep_to_two_thousand_characters_and_are_never_cut(conversation, home) -> None:
    for number in range(3):
        teach(home, f"number{number} " + "filler " * 120)
    block = later(conversation, "filler").block("lessons")
    assert len(block.sources) == 2
    assert block.chars <= 2_000
    assert all(line.endswith("]") for line in block.text.splitlines()[2:])


def test_lessons_left_out_of_the_opening_come_when_a_message_calls_for_them(conversation, home) -> None:
    called = teach(home, "name the ferry before the harbour")
    Lesson.objects.bulk_create(
        Lesson(home=home, key=f"lesson.{n}", rule=f"rule {n}", source="user_explicit") for n in range(50)
    )
    packet = going_on(conversation, "where does the ferry name the harbour?", first="hello")
    assert f"- {called.rule} [" not in packet.opening
    assert added(packet) == [("lesson", called.pk)]
    assert AUTHORITY_LINE in packet.opening
    assert AUTHORITY_LINE not in packet.with_message


def test_a_temporary_conversation_adds_nothing(conversation, home) -> None:
    teach(home, "deploy on Monday")
    episode(home, "The billing service moved to Frankfurt")
    conversation.mode = Conversation.Mode.TEMPORARY
    packet = later(conversation, "deploy the billing service")
    assert added(packet) == []
    assert context_again(conversation, {1: [("lesson", Lesson.objects.get().pk)]}) == {}


def test_what_was_added_reads_the_same_again_until_a_row_is_deleted(conversation, home) -> None:
    rule = Lesson.objects.create(
        home=home, key="lesson.x", rule="deploy on [RUNTIME]", source="user_explicit"
    )
    row = episode(home, "The Monday deploy of billing was slow")
    packet = going_on(conversation, "deploy billing on Monday", first="hello")
    assert added(packet) == [("episodic", row.pk)]
    assert context_again(conversation, {7: added(packet)}) == {7: packet.with_message}
    episodic_delete(row=row, origin=EXPLICIT, reason="test")
    again = context_again(conversation, {7: [("lesson", rule.pk), *added(packet)]})
    assert again == {7: f"{HEADER}\n- deploy on ［RUNTIME］ [les:{rule.pk}]"}


def test_the_deadline_covers_both_questions_of_a_build(conversation, home, monkeypatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr("memory.context.build.embedded_in_time", lambda *texts: asked.append(texts) or False)
    packet = going_on(conversation, "second", first="first")
    assert asked == [("first", "second")]
    assert packet.degraded[0] == "embedding_deadline"

"""What the second and later turns of a conversation are given, and what a private stretch is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crewsite.chat.agent import native_history, with_added
from crewsite.chat.models import Turn, TurnInjection
from crewsite.chat.preparing import Prepared, packet_ahead, prepare
from crewsite.chat.services import turn_begin, turn_fail, turn_finish, turn_retry, turn_start
from crewsite.conversations.models import Conversation
from crewsite.conversations.services import conversation_set_mode
from memory.services import episodic_delete, episodic_write, semantic_write
from tests.factories import EXPLICIT, make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from memory.models import EpisodicMemory

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]
FIRST, SECOND = "Where did the billing service move?", "What does Marta prefer?"
MODES = Conversation.Mode


@pytest.fixture
def talk(alice: User, home: Workspace, embedder: object) -> Conversation:
    return make_conversation(alice, home)


def episode(home: Workspace, text: str) -> EpisodicMemory:
    row = episodic_write(home=home, text=text, origin=EXPLICIT).row
    assert row is not None
    return row


def asked(talk: Conversation, text: str, **fields: str) -> Turn:
    key = str(talk.turns.count())
    return turn_start(conversation=talk, user=talk.owner, text=text, client_key=key, **fields)[0]


def prepared(turn: Turn) -> Prepared:
    begun = turn_begin(turn_id=turn.pk)
    assert begun is not None
    return prepare(begun)


def answered(talk: Conversation, text: str) -> Prepared:
    made = prepared(asked(talk, text))
    turn_finish(turn_id=made.turn.pk, text="Noted.")
    return made


def test_the_opening_keeps_its_bytes_and_the_new_topic_comes_with_its_message(
    talk: Conversation, home: Workspace
) -> None:
    episode(home, "The billing service moved to Frankfurt")
    tea = episode(home, "Marta prefers tea in the morning")
    for key in ("project.billing.region", "user.name", "pref.tea"):
        semantic_write(home=home, key=key, value="where did it move", origin=EXPLICIT)
    first, second = answered(talk, FIRST), answered(talk, SECOND)
    assert second.instructions == first.instructions
    assert "billing service moved" in first.instructions
    assert first.with_text == ""
    assert tea.text in second.with_text
    assert second.text == SECOND
    recorded = TurnInjection.objects.filter(turn=second.turn, with_message=True)
    assert [(row.kind, row.object_id) for row in recorded] == [("episodic", tea.pk)]


def test_what_came_with_a_message_stays_with_it_and_comes_once(talk: Conversation, home: Workspace) -> None:
    episode(home, "The billing service moved to Frankfurt")
    episode(home, "Marta prefers tea in the morning")
    answered(talk, FIRST)
    second = answered(talk, SECOND)
    third = answered(talk, "And Marta in the morning?")
    assert third.with_text == ""
    assert third.added == {second.turn.user_message_id: second.with_text}
    said = [part.content for item in native_history(third.history, third.added) for part in item.parts]
    assert said == [FIRST, "Noted.", with_added(second.with_text, SECOND), "Noted."]
    assert said[2].endswith(f"[User Message]\n{SECOND}")


def test_what_is_learned_meanwhile_does_not_change_which_episodes_open_the_conversation(
    talk: Conversation, home: Workspace
) -> None:
    episode(home, "The billing service moved to Frankfurt")
    first = answered(talk, FIRST)
    newer = episode(home, "The billing service moved again, to Oslo, last week")
    second = answered(talk, "Did the billing service move again?")
    assert second.instructions == first.instructions
    assert newer.text in second.with_text


def test_a_row_deleted_since_is_in_no_later_prompt(talk: Conversation, home: Workspace) -> None:
    billing = episode(home, "The billing service moved to Frankfurt")
    tea = episode(home, "Marta prefers tea in the morning")
    answered(talk, FIRST)
    answered(talk, SECOND)
    for row in (billing, tea):
        episodic_delete(row=row, origin=EXPLICIT, reason="test")
    third = answered(talk, "And now?")
    assert (third.added, third.with_text) == ({}, "")
    assert "billing" not in third.instructions


def test_the_preview_is_the_packet_the_next_turn_gets(talk: Conversation, home: Workspace) -> None:
    episode(home, "The billing service moved to Frankfurt")
    episode(home, "Marta prefers tea in the morning")
    answered(talk, FIRST)
    ahead = packet_ahead(talk, SECOND)
    made = prepared(asked(talk, SECOND))
    assert (ahead.opening, ahead.with_message) == (made.instructions, made.with_text)


def test_the_runtime_names_the_surface_a_turn_came_over(talk: Conversation) -> None:
    assert "Surface: web" in answered(talk, "hello").instructions
    through_a_program = prepared(asked(talk, "and now?", surface="api"))
    assert "Surface: api" in through_a_program.instructions
    assert through_a_program.context.surface == "api"


def test_the_answer_to_a_private_message_is_private_and_writes_nothing_whatever_the_mode_is_by_then(
    talk: Conversation, home: Workspace
) -> None:
    conversation_set_mode(conversation=talk, mode=MODES.TEMPORARY)
    episode(home, "The billing service moved to Frankfurt")
    turn = asked(talk, FIRST)
    conversation_set_mode(conversation=talk, mode=MODES.PERSISTENT)
    made = prepared(turn)
    assert "billing service moved" not in made.instructions
    assert not made.context.conversation.writes_memory
    assert list(talk.messages.values_list("private", flat=True)) == [True, True]
    talk.refresh_from_db()
    assert talk.mode == MODES.PERSISTENT


def test_a_retry_in_a_private_stretch_makes_the_answer_private(talk: Conversation) -> None:
    turn = asked(talk, FIRST)
    prepared(turn)
    turn_fail(turn_id=turn.pk, reason="no", retryable=True)
    conversation_set_mode(conversation=talk, mode=MODES.INCOGNITO)
    assert turn_retry(turn_id=turn.pk) is not None
    made = prepared(turn)
    assert not made.context.conversation.writes_memory
    assert list(talk.messages.values_list("private", flat=True)) == [False, True]


def test_messages_of_a_private_stretch_stay_private_after_it_ends(talk: Conversation) -> None:
    for mode in (MODES.PERSISTENT, MODES.TEMPORARY, MODES.INCOGNITO, MODES.PERSISTENT):
        conversation_set_mode(conversation=talk, mode=mode)
        answered(talk, f"said while {mode}")
    kept = talk.messages.order_by("seq").values_list("private", flat=True)
    assert list(kept) == [False, False, True, True, True, True, False, False]


def test_a_temporary_turn_is_told_nothing_that_came_with_earlier_messages(
    talk: Conversation, home: Workspace
) -> None:
    episode(home, "The billing service moved to Frankfurt")
    tea = episode(home, "Marta prefers tea in the morning")
    answered(talk, FIRST)
    assert tea.text in answered(talk, SECOND).with_text
    conversation_set_mode(conversation=talk, mode=MODES.TEMPORARY)
    third = answered(talk, "What does Marta prefer in the morning?")
    assert (third.added, third.with_text) == ({}, "")
    assert "billing" not in third.instructions

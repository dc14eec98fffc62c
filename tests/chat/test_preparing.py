from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from crewsite.chat import preparing
from crewsite.chat.agent import native_history
from crewsite.chat.models import TurnInjection
from crewsite.chat.preparing import fitting, history_budget_chars, prepare
from crewsite.chat.services import turn_begin, turn_finish, turn_start
from crewsite.conversations.models import Message
from tests.factories import make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace


def message(content: str, role: str = "user") -> Message:
    return Message(role=role, content=content)


def test_the_newest_messages_that_fit_are_kept_whole_and_start_with_a_question() -> None:
    messages = [
        message("a" * 10),
        message("b" * 10, "assistant"),
        message("c" * 10),
        message("d" * 10, "assistant"),
    ]
    assert [m.content[0] for m in fitting(messages, budget_chars=40)] == ["a", "b", "c", "d"]
    assert [m.content[0] for m in fitting(messages, budget_chars=39)] == ["c", "d"]
    assert fitting(messages, budget_chars=10) == ()


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(0, 400))
def test_history_never_exceeds_its_budget(sizes: list[int], budget: int) -> None:
    messages = [message("x" * size, "user" if i % 2 == 0 else "assistant") for i, size in enumerate(sizes)]
    kept = fitting(messages, budget_chars=budget)
    assert sum(len(m.content) for m in kept) <= budget
    assert not kept or kept[0].role == "user"


def test_a_small_window_leaves_room_for_the_answer() -> None:
    assert history_budget_chars(8_000, packet_chars=4_000) == 8_000
    assert history_budget_chars(8_000, packet_chars=50_000) == 0
    assert history_budget_chars(None, packet_chars=0) == 1_500_000


def test_the_transcript_becomes_the_models_own_messages() -> None:
    answer = message("done", "assistant")
    answer.tool_calls = [
        {"id": "1", "name": "learn_add", "state": "done", "args": {"rule": "x"}, "result": "Kept"},
        {"id": "2", "name": "learn_add", "state": "running", "args": {}},
    ]
    history = native_history([message("please"), answer])
    assert [type(item) for item in history] == [ModelRequest, ModelResponse, ModelRequest, ModelResponse]
    assert [type(part) for item in history for part in item.parts] == [
        UserPromptPart,
        ToolCallPart,
        ToolReturnPart,
        TextPart,
    ]


@pytest.mark.django_db
@pytest.mark.sqlite_only
def test_a_question_asked_meanwhile_sees_the_answer_before_it_and_not_itself(
    alice: User, home: Workspace
) -> None:
    conversation = make_conversation(alice, home)
    first, _ = turn_start(conversation=conversation, user=alice, text="one?", client_key="1")
    second, _ = turn_start(conversation=conversation, user=alice, text="two?", client_key="2")
    begun = turn_begin(turn_id=first.pk)
    assert begun is not None
    assert prepare(begun).history == ()
    turn_finish(turn_id=first.pk, text="one!")
    begun = turn_begin(turn_id=second.pk)
    assert begun is not None
    prepared = prepare(begun)
    assert [m.content for m in prepared.history] == ["one?", "one!"]
    assert prepared.text == "two?"


@pytest.mark.django_db
@pytest.mark.sqlite_only
def test_the_packet_and_its_rows_are_stored_with_the_turn(alice: User, home: Workspace) -> None:
    from lessons.services import lesson_write
    from tests.factories import EXPLICIT

    lesson_write(home=home, rule="Always reef early", origin=EXPLICIT)
    conversation = make_conversation(alice, home)
    turn, _ = turn_start(conversation=conversation, user=alice, text="hello", client_key="1")
    begun = turn_begin(turn_id=turn.pk)
    assert begun is not None
    prepared = prepare(begun)
    turn.refresh_from_db()
    assert "Always reef early" in prepared.instructions
    assert turn.packet["total_chars"] == len(prepared.instructions)
    assert list(TurnInjection.objects.filter(turn=turn).values_list("kind", flat=True)) == ["lesson"]


@pytest.mark.django_db
@pytest.mark.sqlite_only
def test_of_a_long_conversation_what_fits_is_read_and_what_it_began_with(
    alice: User, home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "MESSAGES_AT_ONCE", 3)
    monkeypatch.setattr(preparing, "history_budget_chars", lambda window, packet_chars: 60)
    conversation = make_conversation(alice, home)
    for number in range(12):
        turn, _ = turn_start(
            conversation=conversation, user=alice, text=f"question {number:02}?", client_key=f"{number}"
        )
        turn_begin(turn_id=turn.pk)
        turn_finish(turn_id=turn.pk, text=f"answer {number:02}")
    turn, _ = turn_start(conversation=conversation, user=alice, text="the last?", client_key="last")
    begun = turn_begin(turn_id=turn.pk)
    assert begun is not None
    with CaptureQueriesContext(connection) as read:
        prepared = prepare(begun)
    texts = [m.content for m in prepared.history]
    assert texts == ["question 10?", "answer 10", "question 11?", "answer 11"]
    pages = [
        q for q in read.captured_queries if "conversations_message" in q["sql"] and "LIMIT 3" in q["sql"]
    ]
    assert len(pages) == 2  # and not nine

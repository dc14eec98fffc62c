from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction
from django.utils import timezone
from django_q.models import OrmQ

from crewsite.chat import branching, services
from crewsite.chat.interruption import turns_interrupt, turns_reap
from crewsite.chat.models import Turn, TurnInjection
from crewsite.chat.payloads import turn_closed_frame
from crewsite.chat.services import (
    Draft,
    Injection,
    turn_begin,
    turn_fail,
    turn_finish,
    turn_record_packet,
    turn_retry,
    turn_start,
    turn_stop,
    turns_save,
)
from crewsite.chat.transcript import transcript
from crewsite.conversations import services as conversation_services
from crewsite.conversations.models import Conversation, Message
from crewsite.jobs.leases import process_owner
from crewsite.search.backfill import TASK as BACKFILL_TASK
from lessons.models import Lesson
from lessons.services import lesson_write
from tests.factories import EXPLICIT, make_conversation

if TYPE_CHECKING:
    from collections.abc import Callable

    from crewsite.accounts.models import User, Workspace


@pytest.fixture
def conversation(alice: User, home: Workspace) -> Conversation:
    return make_conversation(alice, home)


def start(conversation: Conversation, text: str = "hello", key: str = "k1") -> Turn:
    return turn_start(conversation=conversation, user=conversation.owner, text=text, client_key=key)[0]


def begin(conversation: Conversation, text: str = "hello", key: str = "k1") -> Turn:
    turn = turn_begin(turn_id=start(conversation, text, key).pk)
    assert turn is not None
    return turn


def save(turn: Turn, text: str) -> bool:
    return not turns_save([Draft(turn.pk, text, tool_calls=[], first_token_at=None)])


def give_to(turn: Turn, runner: str, **fields: object) -> None:
    Turn.objects.filter(pk=turn.pk).update(runner=runner, **fields)


def test_the_same_client_key_twice_is_one_message_and_one_turn(conversation: Conversation) -> None:
    first, is_new = turn_start(
        conversation=conversation, user=conversation.owner, text="hello", client_key="k1"
    )
    second, is_new_again = turn_start(
        conversation=conversation, user=conversation.owner, text="hello again", client_key="k1"
    )
    assert (is_new, is_new_again) == (True, False)
    assert first == second
    assert list(conversation.messages.values_list("content", flat=True)) == ["hello"]


@pytest.mark.django_db(transaction=True)
def test_the_same_client_key_from_two_threads_is_one_message(conversation: Conversation) -> None:
    def send() -> None:
        start(conversation)
        connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert conversation.turns.count() == conversation.messages.count() == 1


def test_the_first_message_names_the_conversation_and_later_ones_do_not(conversation: Conversation) -> None:
    start(conversation, "How do I deploy?", "k1")
    start(conversation, "And roll back?", "k2")
    conversation.refresh_from_db()
    assert conversation.title == "How do I deploy?"


def test_a_turn_goes_from_queued_to_running_to_done(conversation: Conversation) -> None:
    turn = start(conversation)
    assert turn.state == Turn.State.QUEUED
    begun = turn_begin(turn_id=turn.pk)
    assert begun is not None
    assert begun.state == Turn.State.RUNNING
    done = turn_finish(turn_id=turn.pk, text="**hi**", usage={"input_tokens": 3})
    assert done.state == Turn.State.DONE
    assert done.assistant_message is not None
    assert done.assistant_message.content_html == "<p><strong>hi</strong></p>\n"
    assert done.assistant_message.finish_reason == "stop"
    assert done.assistant_message.usage == {"input_tokens": 3}
    assert done.finished_at is not None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", [turn_finish, turn_stop, lambda turn_id, text: turns_interrupt()])
def test_a_turn_asks_once_for_the_vectors_of_question_and_answer(
    conversation: Conversation, end: Callable[..., object]
) -> None:
    OrmQ.objects.all().delete()
    turn = begin(conversation)
    assert not backfills()
    save(turn, "word by word")
    if end not in {turn_finish, turn_stop}:
        give_to(turn, "gone:1:x", heartbeat_at=timezone.now() - timedelta(minutes=1))
    end(turn_id=turn.pk, text="the answer")
    assert len(backfills()) == 1


@pytest.mark.django_db(transaction=True)
def test_a_private_turn_asks_for_no_vectors(alice: User, home: Workspace) -> None:
    conversation = make_conversation(alice, home, mode=Conversation.Mode.INCOGNITO)
    turn_finish(turn_id=begin(conversation).pk, text="the answer")
    assert not backfills()


def backfills() -> list[OrmQ]:
    return [row for row in OrmQ.objects.all() if row.task["func"] == BACKFILL_TASK]


def test_a_turn_begins_once(conversation: Conversation) -> None:
    turn = begin(conversation)
    assert turn_begin(turn_id=turn.pk) is None


def test_what_is_produced_is_saved_while_it_runs_and_not_after(conversation: Conversation) -> None:
    turn = begin(conversation)
    assert save(turn, "half an")
    turn_finish(turn_id=turn.pk, text="half an answer, and the rest")
    assert not save(turn, "half an")
    answer = conversation.messages.get(role=Message.Role.ASSISTANT)
    assert answer.content == "half an answer, and the rest"


@pytest.mark.django_db(transaction=True)
def test_a_draft_that_is_saved_while_the_end_is_written_does_not_undo_it(conversation: Conversation) -> None:
    turn = begin(conversation)
    written, go_on = threading.Event(), threading.Event()

    def finish() -> None:
        with closing(connection), transaction.atomic():
            turn_finish(turn_id=turn.pk, text="the whole answer")
            written.set()
            go_on.wait(20)

    def save_draft() -> bool:
        with closing(connection):
            return save(turn, "the wh")

    with ThreadPoolExecutor(2) as threads:
        ending = threads.submit(finish)
        assert written.wait(20)
        saving = threads.submit(save_draft)
        wait([saving], timeout=0.2)  # as far as it comes while the end holds the row
        go_on.set()
        ending.result(20)
        assert not saving.result(20)
    assert conversation.messages.get(role=Message.Role.ASSISTANT).content == "the whole answer"


def test_a_stop_without_a_text_keeps_and_renders_what_was_saved_last(conversation: Conversation) -> None:
    turn = begin(conversation)
    save(turn, "**half**")
    answer = turn_stop(turn_id=turn.pk).assistant_message
    assert answer is not None
    assert (answer.content, answer.content_html) == ("**half**", "<p><strong>half</strong></p>\n")


@pytest.mark.django_db(transaction=True)
def test_a_long_text_is_rendered_before_the_conversation_is_locked(
    conversation: Conversation, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: list[bool] = []

    def rendered(text: str) -> str:
        locked.append(connection.in_atomic_block)
        return text

    for module in (services, branching, conversation_services):
        monkeypatch.setattr(module, "render_markdown", rendered)
    turn, _ = turn_start(conversation=conversation, user=alice, text="long", client_key="1")
    turn_stop(turn_id=turn.pk)
    locked.clear()
    branching.turn_edit(
        conversation=conversation, message_id=turn.user_message_id, user=alice, text="longer", client_key="2"
    )
    assert locked == [False]


def test_a_stop_keeps_what_was_produced(conversation: Conversation) -> None:
    turn = begin(conversation)
    stopped = turn_stop(turn_id=turn.pk, text="half")
    assert stopped.state == Turn.State.CANCELLED
    assert stopped.assistant_message is not None
    assert (stopped.assistant_message.content, stopped.assistant_message.finish_reason) == ("half", "stopped")


def test_a_turn_that_is_over_cannot_end_again(conversation: Conversation) -> None:
    turn = begin(conversation)
    turn_finish(turn_id=turn.pk, text="whole")
    assert turn_fail(turn_id=turn.pk, reason="late", retryable=True, text="").state == Turn.State.DONE
    assert conversation.messages.get(role=Message.Role.ASSISTANT).content == "whole"


def test_a_failure_keeps_the_question_and_what_was_produced(conversation: Conversation) -> None:
    turn = begin(conversation)
    failed = turn_fail(turn_id=turn.pk, reason="The connection broke off.", retryable=True, text="half")
    assert (failed.state, failed.error, failed.retryable) == ("failed", "The connection broke off.", True)
    assert [m.content for m in conversation.messages.all()] == ["hello", "half"]


def test_a_retry_is_the_same_question_and_the_same_place(conversation: Conversation) -> None:
    turn = begin(conversation)
    turn_fail(turn_id=turn.pk, reason="x", retryable=True, text="half")
    again = turn_retry(turn_id=turn.pk)
    assert again is not None
    assert again.state == Turn.State.QUEUED
    assert turn_begin(turn_id=turn.pk) is not None
    turn_finish(turn_id=turn.pk, text="whole")
    assert [m.content for m in conversation.messages.all()] == ["hello", "whole"]


def test_only_a_failed_or_stopped_turn_is_retried(conversation: Conversation) -> None:
    turn = begin(conversation)
    assert turn_retry(turn_id=turn.pk) is None
    turn_finish(turn_id=turn.pk, text="whole")
    assert turn_retry(turn_id=turn.pk) is None


def test_a_turn_of_a_dead_process_is_interrupted_at_once(conversation: Conversation) -> None:
    turn = begin(conversation)
    save(turn, "half **an** answer")
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    host = process_owner().split(":")[0]
    give_to(turn, f"{host}:{gone.stdout.decode().strip()}:abcd")
    assert turns_interrupt() == 1
    turn.refresh_from_db()
    assert (turn.state, turn.retryable) == (Turn.State.FAILED, True)
    answer = conversation.messages.get(role=Message.Role.ASSISTANT)
    assert answer.finish_reason == "interrupted"
    assert "<strong>an</strong>" in answer.content_html
    assert turns_interrupt() == 0


def test_a_turn_closed_without_its_words_shows_those_that_were_saved_with_their_calls(
    conversation: Conversation,
) -> None:
    """As it is closed from another process, or when its own is gone: the socket tells what the page shows."""
    call = {"id": "c", "name": "learn_add", "state": "done", "at": 6}
    html = '<p>before</p>\n<div class="call-mark"></div><p>after</p>'

    def saved(key: str) -> Turn:
        turn = begin(conversation, key=key)
        turns_save([Draft(turn.pk, "before\n\nafter", tool_calls=[call], first_token_at=None)])
        return turn

    failed = turn_fail(turn_id=saved("1").pk, text=None, reason="x", retryable=True)
    assert html in turn_closed_frame(failed)["message"]["html"]
    lost = saved("2")
    give_to(lost, "elsewhere:1:x", heartbeat_at=timezone.now() - timedelta(hours=1))
    assert turns_interrupt() == 1
    lost.refresh_from_db()
    assert html in turn_closed_frame(lost)["message"]["html"]
    assert [line.html.count(html) for line in transcript(conversation).lines if line.html] == [1, 1]


def test_a_turn_of_an_earlier_process_with_our_number_is_interrupted(conversation: Conversation) -> None:
    """In a container every server process has the same number."""
    turn = begin(conversation)
    host = process_owner().split(":")[0]
    give_to(turn, f"{host}:{os.getpid()}:earlier")
    assert turns_interrupt() == 1


def test_a_queued_turn_of_a_dead_process_can_be_retried(conversation: Conversation) -> None:
    turn = start(conversation)
    host = process_owner().split(":")[0]
    give_to(turn, f"{host}:{os.getpid()}:earlier")
    assert turns_interrupt() == 1
    assert turn_retry(turn_id=turn.pk) is not None


def test_a_turn_of_another_host_is_interrupted_when_its_row_has_not_moved_for_30_s(
    conversation: Conversation,
) -> None:
    turn = begin(conversation)
    now = timezone.now()
    give_to(turn, "elsewhere:1:abcd", heartbeat_at=now - timedelta(seconds=29))
    assert turns_interrupt(now=now) == 0
    assert turns_interrupt(now=now + timedelta(seconds=2)) == 1


def test_a_worker_judges_a_turn_by_its_heartbeat_and_not_by_its_process(conversation: Conversation) -> None:
    turn = begin(conversation)
    host = process_owner().split(":")[0]
    give_to(turn, f"{host}:{os.getpid()}:elsewhere")
    assert turns_reap() == 0
    give_to(turn, "elsewhere:1:abcd", heartbeat_at=timezone.now() - timedelta(seconds=31))
    assert turns_reap() == 1


def test_a_failure_without_a_text_keeps_what_was_saved_last(conversation: Conversation) -> None:
    turn = begin(conversation)
    save(turn, "half **an** answer")
    turn_fail(turn_id=turn.pk, reason="odd \x00 output", retryable=True)
    turn.refresh_from_db()
    assert turn.error == "odd  output"
    assert conversation.messages.get(role=Message.Role.ASSISTANT).content == "half **an** answer"


@pytest.mark.parametrize(
    ("reason", "told"),
    [("length", "length"), ("content_filter", "content_filter"), ("stop", "stop"), ("tool_call", "stop")],
)
def test_an_answer_that_was_cut_short_says_so(conversation: Conversation, reason: str, told: str) -> None:
    turn = begin(conversation)
    done = turn_finish(turn_id=turn.pk, text="half", usage={"finish_reason": reason})
    assert done.assistant_message is not None
    assert done.assistant_message.finish_reason == told


def test_our_own_turns_are_never_interrupted(conversation: Conversation) -> None:
    turn = begin(conversation)
    give_to(turn, process_owner(), heartbeat_at=timezone.now() - timedelta(hours=1))
    assert turns_interrupt() == 0


def test_a_lesson_in_the_prompt_of_a_turn_is_counted_once(conversation: Conversation) -> None:
    home = conversation.workspace.home
    rows = [
        lesson_write(home=home, rule=rule, origin=EXPLICIT).row
        for rule in ("use pytest", "answer in French", "ask before deleting files")
    ]
    turn = begin(conversation)
    injections = [Injection("lesson", row.pk, None) for row in rows[:2]]
    injections.append(Injection("episodic", rows[2].pk, 0.5))
    for _ in range(2):
        turn_record_packet(turn_id=turn.pk, packet={"blocks": []}, injections=injections, model="m")
    counted = Lesson.objects.order_by("pk").values_list("times_applied", "updated_at")
    assert list(counted) == [(1, rows[0].updated_at), (1, rows[1].updated_at), (0, rows[2].updated_at)]


def test_the_rows_of_a_prompt_are_recorded_once(conversation: Conversation) -> None:
    turn = begin(conversation)
    rows = [Injection("lesson", 3, None), Injection("episodic", 9, 0.5)]
    for _ in range(2):
        turn_record_packet(turn_id=turn.pk, packet={"blocks": []}, injections=rows, model="m")
    recorded = TurnInjection.objects.filter(turn=turn).values_list("rank", "kind", "object_id", "score")
    assert list(recorded) == [(0, "lesson", 3, None), (1, "episodic", 9, 0.5)]

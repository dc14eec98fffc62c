"""The examples of chapter 04, 4.5 that concern consolidation, in their order."""

from __future__ import annotations

import datetime as dt
import json
import threading
from typing import TYPE_CHECKING

import pytest
from constance.test import override_config
from django.db import connection
from django.utils import timezone

from crewsite.conversations.models import Conversation, Message
from crewsite.jobs.models import Job
from crewsite.llm import providers
from crewsite.security.models import MemoryEvent
from lessons.models import Lesson
from memory.consolidation import passes
from memory.consolidation.constants import MAX_TRIES
from memory.consolidation.passes import pass_run
from memory.consolidation.triggers import heartbeat, turn_ended
from memory.models import ConsolidationReceipt, EpisodicMemory, HistoryEntry, SemanticMemory
from tests.consolidating_model import transcript_of
from tests.llm_server import LlmServer, Reply
from tests.memory.consolidation.conftest import history, preferences, refused, rest, say, talk, work

if TYPE_CHECKING:
    from tests.fakes import FakeEmbedder

Path = ConsolidationReceipt.Path
KEY = "AKIAIOSFODNN7EXAMPLE"

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


def receipts(path: str) -> list[tuple[int, int, str]]:
    rows = ConsolidationReceipt.objects.filter(path=path).order_by("pk")
    return [(row.first_seq, row.last_seq, row.state) for row in rows]


def stored() -> tuple[int, int, int, int]:
    return (
        HistoryEntry.objects.count(),
        EpisodicMemory.objects.count(),
        SemanticMemory.objects.count(),
        Lesson.objects.count(),
    )


def test_1_the_thirtieth_message_starts_one_preferences_pass(
    conversation: Conversation, server: LlmServer
) -> None:
    talk(conversation, 29)
    turn_ended(conversation.pk)
    assert not Job.objects.exists()
    say(conversation, "The thirtieth message", role=Message.Role.ASSISTANT)
    turn_ended(conversation.pk)
    turn_ended(conversation.pk)
    assert [job.state for job in work()] == [Job.State.DONE]
    conversation.refresh_from_db()
    assert receipts(Path.PREFERENCES) == [(1, 30, "done")]
    assert (conversation.prefs_offset, conversation.consolidated_until) == (30, 0)
    assert [line.seq for line in transcript_of(server.requests[0])] == list(range(1, 31))


def test_2_then_three_idle_hours_start_a_history_pass_over_the_same_messages(
    conversation: Conversation, server: LlmServer
) -> None:
    talk(conversation, 30)
    turn_ended(conversation.pk)
    work()
    rest(conversation, hours=2.9)
    assert heartbeat() == 0
    rest(conversation, hours=3.1)
    assert heartbeat() == 1
    work()
    conversation.refresh_from_db()
    assert receipts(Path.HISTORY) == [(1, 30, "done")]
    assert (conversation.prefs_offset, conversation.consolidated_until) == (30, 30)
    assert heartbeat() == 0
    assert HistoryEntry.objects.count() == 1
    assert EpisodicMemory.objects.count() == 10


def test_3_a_changed_idle_setting_applies_to_the_next_heartbeat(
    conversation: Conversation, server: LlmServer
) -> None:
    talk(conversation, 2)
    rest(conversation, hours=1.5)
    assert heartbeat() == 0
    with override_config(HISTORY_IDLE_HOURS=1.0):
        assert heartbeat() == 1


ANSWER = {"entries": [], "episodes": [{"text": "The billing service moved to Berlin."}], "lessons": []}
SPOKEN = json.dumps(ANSWER)


@pytest.mark.parametrize(
    "replies",
    [
        [Reply(chunks=["They talked about the billing service."]), Reply(chunks=[SPOKEN])],
        [Reply(chunks=[f"```json\n{SPOKEN}\n```"])],
        [Reply(chunks=[f"<think>What is {{worth}} it?</think>\n{SPOKEN}"])],
    ],
    ids=["prose", "fenced", "think"],
)
def test_4_an_answer_in_words_is_read_or_asked_for_again(
    conversation: Conversation, server: LlmServer, replies: list[Reply]
) -> None:
    talk(conversation, 4)
    server.queue.extend(replies)
    assert pass_run(conversation_id=conversation.pk, path=Path.HISTORY, is_asked=True).state == "done"
    assert stored() == (0, 1, 0, 0)


def test_4_a_missing_field_fails_with_its_reason_and_a_later_run_succeeds(
    conversation: Conversation, server: LlmServer
) -> None:
    talk(conversation, 4)
    rest(conversation, hours=4)
    server.queue.extend(Reply(tools=[("history_pass", {"entries": [], "lessons": []})]) for _ in range(3))
    heartbeat()
    (job,) = work()
    assert job.state == Job.State.FAILED
    assert "episodes" in job.error
    assert stored() == (0, 0, 0, 0)
    (receipt,) = ConsolidationReceipt.objects.all()
    assert (receipt.state, receipt.tries) == ("failed", 1)
    assert "episodes" in receipt.reason
    assert heartbeat() == 1
    assert work()[0].state == Job.State.DONE
    assert receipts(Path.HISTORY) == [(1, 4, "done")]
    assert EpisodicMemory.objects.count() == 2


def test_4_after_three_tries_it_waits_for_new_messages_or_a_person(
    conversation: Conversation, server: LlmServer
) -> None:
    talk(conversation, 4)
    rest(conversation, hours=4)
    server.queue.extend(Reply(tools=[("history_pass", {})]) for _ in range(3 * MAX_TRIES))
    for _ in range(MAX_TRIES):
        assert heartbeat() == 1
        work()
    assert heartbeat() == 0
    assert pass_run(conversation_id=conversation.pk, path=Path.HISTORY).state == "waiting"
    say(conversation, "One more thing about the billing service today")
    rest(conversation, hours=4)
    assert heartbeat() == 1
    work()
    conversation.refresh_from_db()
    assert conversation.consolidated_until == 5


def test_4_a_person_may_have_it_tried_again(conversation: Conversation, server: LlmServer) -> None:
    talk(conversation, 4)
    server.queue.append(refused(400))
    assert pass_run(conversation_id=conversation.pk, path=Path.HISTORY, is_asked=True).state == "failed"
    assert pass_run(conversation_id=conversation.pk, path=Path.HISTORY, is_asked=True).state == "done"


def test_5_an_endpoint_that_is_busy_three_times_is_asked_until_it_answers(
    conversation: Conversation, server: LlmServer
) -> None:
    talk(conversation, 4)
    rest(conversation, hours=4)
    server.queue.extend(refused(429, Retry_After="0.01") for _ in range(3))
    heartbeat()
    assert work()[0].state == Job.State.DONE
    assert len(server.requests) == 4
    assert receipts(Path.HISTORY) == [(1, 4, "done")]
    assert EpisodicMemory.objects.count() == 2


@pytest.mark.usefixtures("impatient")
def test_5_an_endpoint_that_stays_busy_is_left_alone_as_long_as_it_says(
    conversation: Conversation, server: LlmServer
) -> None:
    talk(conversation, 4)
    rest(conversation, hours=4)
    server.queue.append(refused(429, Retry_After="600"))
    heartbeat()
    work()
    receipt = ConsolidationReceipt.objects.get()
    assert receipt.tries == 0
    assert receipt.retry_at is not None
    assert receipt.retry_at > timezone.now() + dt.timedelta(minutes=9)
    assert heartbeat() == 0
    assert heartbeat(receipt.retry_at + dt.timedelta(seconds=1)) == 1


@pytest.mark.usefixtures("impatient")
def test_5_a_refused_request_is_not_repeated(conversation: Conversation, server: LlmServer) -> None:
    talk(conversation, 4)
    rest(conversation, hours=4)
    server.queue.append(refused(400, "the prompt is too long"))
    heartbeat()
    assert work()[0].state == Job.State.FAILED
    assert len(server.requests) == 1
    assert ConsolidationReceipt.objects.get().retry_at is None
    assert heartbeat() == 0


@pytest.mark.usefixtures("impatient")
def test_5_a_cut_connection_costs_nothing(conversation: Conversation, server: LlmServer) -> None:
    talk(conversation, 4)
    server.queue.append(Reply(chunks=[SPOKEN], cut_after=0))
    assert pass_run(conversation_id=conversation.pk, path=Path.HISTORY, is_asked=True).state == "failed"
    assert stored() == (0, 0, 0, 0)
    conversation.refresh_from_db()
    assert conversation.consolidated_until == 0


@pytest.mark.usefixtures("impatient")
def test_5_a_model_that_takes_too_long_is_left(
    conversation: Conversation, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "TOTAL_TIMEOUT_S", 0.2)
    talk(conversation, 4)
    server.queue.append(Reply(chunks=[SPOKEN], first_delay_s=2))
    outcome = pass_run(conversation_id=conversation.pk, path=Path.HISTORY, is_asked=True)
    assert outcome.state == "failed"
    assert outcome.receipt is not None
    assert outcome.receipt.deferred == 1


def test_7_the_same_injected_block_and_ok_ten_times_add_nothing(
    conversation: Conversation, server: LlmServer, home: object
) -> None:
    block = "[Memory]\n- The user works on the billing service in Berlin every day"
    for _ in range(10):
        say(conversation, block, role=Message.Role.SYSTEM)
        say(conversation, "ok")
        say(conversation, block, role=Message.Role.TOOL)
        say(
            conversation,
            "ok\n\n- The user works on the billing service in Berlin `[epi:12]`, 2026-11-02",
            role=Message.Role.ASSISTANT,
        )
    before = stored()
    for path in (Path.PREFERENCES, Path.HISTORY):
        assert pass_run(conversation_id=conversation.pk, path=path, is_asked=True).state == "done"
    assert stored() == before
    assert all("Berlin" not in json.dumps(request["messages"]) for request in server.requests)


def test_8_a_quoted_key_is_redacted_and_the_event_logged(
    conversation: Conversation, server: LlmServer
) -> None:
    say(conversation, "Which key does the deployment use?")
    say(conversation, f"It uses {KEY} at the moment.", role=Message.Role.ASSISTANT)
    server.queue.append(
        history(
            entries=[{"title": "Deployment key", "text": f"The key is {KEY}."}],
            episodes=[{"text": f"The deployment uses the key {KEY} at the moment."}],
            lessons=[{"rule": f"Never print {KEY} again", "negative": KEY, "category": "tool"}],
        )
    )
    server.queue.append(
        preferences(
            preferences=f"- Deployment key {KEY}",
            facts=[{"key": "project.key", "value": KEY, "confidence": 0.9}],
        )
    )
    for path in (Path.HISTORY, Path.PREFERENCES):
        assert pass_run(conversation_id=conversation.pk, path=path, is_asked=True).state == "done"
    assert EpisodicMemory.objects.get().text.count("[REDACTED:") == 1
    redacted = MemoryEvent.objects.filter(event=MemoryEvent.Event.REDACTED)
    layers = {"history", "episodic", "lesson", "preferences", "semantic"}
    assert {event.memory_type for event in redacted} == layers
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table == "conversations_message" or "fts" in table or "keyword" in table:
                continue
            cursor.execute(f'SELECT * FROM "{table}"')
            assert KEY not in repr(cursor.fetchall()), table


@pytest.mark.django_db(transaction=True)
def test_9_the_same_pass_twice_at_once_has_one_result(
    conversation: Conversation, server: LlmServer, embedder: FakeEmbedder
) -> None:
    talk(conversation, 6)
    gate = threading.Barrier(2)
    outcomes: list[str] = []

    def run() -> None:
        try:
            gate.wait(5)
            outcome = pass_run(conversation_id=conversation.pk, path=Path.HISTORY, is_asked=True)
            outcomes.append(outcome.state)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(outcomes) in (["busy", "done"], ["done", "nothing"])
    assert receipts(Path.HISTORY) == [(1, 6, "done")]
    assert stored() == (1, 3, 0, 0)


def test_9_a_pass_whose_lease_was_lost_writes_nothing_after_the_other(
    conversation: Conversation, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(conversation, 6)
    asked = passes.ask

    def overtaken(question: object) -> object:
        answer = asked(question)  # type: ignore[arg-type]
        monkeypatch.setattr(passes, "ask", asked)
        monkeypatch.setattr(passes, "leased", fake_lease)
        assert pass_run(conversation_id=conversation.pk, path=Path.HISTORY, is_asked=True).state == "done"
        return answer

    from contextlib import contextmanager

    from crewsite.jobs.leases import lease_acquire

    @contextmanager
    def fake_lease(name: str, seconds: float):  # type: ignore[no-untyped-def]
        yield lease_acquire(f"{name}:other", seconds=seconds)

    monkeypatch.setattr(passes, "ask", overtaken)
    assert pass_run(conversation_id=conversation.pk, path=Path.HISTORY, is_asked=True).state == "changed"
    assert stored() == (1, 3, 0, 0)


def test_14_messages_of_a_private_stretch_are_never_consolidated(
    conversation: Conversation, server: LlmServer
) -> None:
    say(conversation, "The billing service moved to Berlin yesterday evening")
    for mode in (Conversation.Mode.TEMPORARY, Conversation.Mode.INCOGNITO):
        conversation.mode = mode
        conversation.save()
        say(conversation, f"Something private that was said in {mode} mode")
        rest(conversation, hours=4)
        assert heartbeat() == 0
    conversation.mode = Conversation.Mode.PERSISTENT
    conversation.save()
    say(conversation, "The search page is next on the list for everybody")
    rest(conversation, hours=4)
    assert heartbeat() == 1
    work()
    assert [line.seq for line in transcript_of(server.requests[0])] == [1, 4]
    assert "private" not in "".join(row.text for row in EpisodicMemory.objects.all())

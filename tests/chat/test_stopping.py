"""Stopping a turn at the moments when it is about to begin: whatever runs on then claims nothing."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from crewsite.chat import preparing
from crewsite.chat import runner as module
from crewsite.chat.following import turn_frames
from crewsite.chat.hub import hub
from crewsite.chat.models import Turn
from crewsite.chat.preparing import begin
from crewsite.chat.runner import runner
from crewsite.chat.services import turn_retry, turn_start, turn_stop
from crewsite.chat.threads import in_database
from crewsite.conversations.models import Conversation
from tests.factories import make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from crewsite.chat.payloads import Frame

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def turn(alice: User, home: Workspace) -> Turn:
    conversation = make_conversation(alice, home)
    return turn_start(conversation=conversation, user=alice, text="hello", client_key="1")[0]


async def state_of(turn: Turn) -> str:
    await turn.arefresh_from_db()
    return turn.state


async def until_over(turn: Turn) -> str:
    async with asyncio.timeout(20):
        while runner.live(turn.pk) is not None:
            await asyncio.sleep(0.02)
    return await state_of(turn)


async def held_as_it_begins(turn: Turn, alice: User, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Submitted, and its thread at it, until the event is set."""
    at_it, go_on = threading.Event(), threading.Event()

    def slowly(*args: Any, **kwargs: Any) -> Any:
        at_it.set()
        assert go_on.wait(20)
        return begin(*args, **kwargs)

    monkeypatch.setattr(module, "begin", slowly)
    runner.submit(turn, user_id=alice.pk, limit=1)
    assert await asyncio.to_thread(at_it.wait, 20)
    return go_on


async def test_a_turn_that_is_stopped_while_it_begins_can_be_tried_again(
    turn: Turn, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = await held_as_it_begins(turn, alice, monkeypatch)
    threading.Timer(0.5, go_on.set).start()
    assert await runner.stop(turn.pk)
    assert await state_of(turn) == Turn.State.CANCELLED
    again = await in_database(turn_retry, turn_id=turn.pk)
    assert again is not None
    runner.submit(again, user_id=alice.pk, limit=1, is_retry=True)
    assert await until_over(turn) == Turn.State.DONE


async def test_a_turn_that_is_stopped_before_its_first_step_is_closed(turn: Turn, alice: User) -> None:
    runner.submit(turn, user_id=alice.pk, limit=1)
    async with asyncio.timeout(20):
        assert await runner.stop(turn.pk)
    assert await state_of(turn) == Turn.State.CANCELLED
    assert runner.live(turn.pk) is None


async def test_a_turn_shows_that_it_lives_while_its_packet_is_built(
    turn: Turn, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, prepare = threading.Event(), preparing.prepare

    def slowly(found: Turn) -> Any:
        assert built.wait(20)
        return prepare(found)

    monkeypatch.setattr(preparing, "prepare", slowly)
    runner.submit(turn, user_id=alice.pk, limit=1)
    async with asyncio.timeout(20):
        while await state_of(turn) != Turn.State.RUNNING:
            await asyncio.sleep(0.02)
        first = turn.heartbeat_at
        while turn.heartbeat_at == first:
            await asyncio.sleep(0.1)
            await sync_to_async(turn.refresh_from_db)()
    built.set()
    assert await until_over(turn) == Turn.State.DONE


async def test_a_second_stop_does_not_tear_the_ending_of_the_first(
    turn: Turn, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = await held_as_it_begins(turn, alice, monkeypatch)
    stops = [asyncio.create_task(runner.stop(turn.pk)) for _ in range(2)]
    await asyncio.sleep(0.1)
    assert await state_of(turn) == Turn.State.QUEUED  # the thread has it still
    go_on.set()
    assert await asyncio.gather(*stops) == [True, True]
    assert await state_of(turn) == Turn.State.CANCELLED
    assert runner.live(turn.pk) is None


async def test_a_turn_that_cannot_be_closed_with_its_text_is_stopped_without(
    turn: Turn, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = asyncio.Event()

    async def produce(*_: Any) -> dict[str, Any]:
        running.set()
        await asyncio.Event().wait()
        return {}

    def refusing(*, text: str | None = None, **fields: Any) -> Turn:
        if text is not None:
            msg = "This text cannot be written."
            raise ValueError(msg)
        fields.pop("tool_calls", None)
        return turn_stop(**fields)

    monkeypatch.setattr(module, "produce", produce)
    monkeypatch.setattr(module, "turn_stop", refusing)
    runner.submit(turn, user_id=alice.pk, limit=1)
    async with asyncio.timeout(20):
        await running.wait()
        assert await runner.stop(turn.pk)
    assert await state_of(turn) == Turn.State.CANCELLED


async def test_who_follows_a_turn_is_told_when_it_is_deleted_with_its_conversation(turn: Turn) -> None:
    """Queued, and nobody runs it."""

    async def follow() -> list[Frame]:
        return [item async for item in turn_frames(turn.conversation, turn.pk, ping_s=60)]

    following = asyncio.create_task(follow())
    await asyncio.sleep(0.1)
    await in_database(Conversation.objects.filter(pk=turn.conversation_id).delete)
    async with asyncio.timeout(20):
        told = await following
    assert [(item["type"], item["retryable"]) for item in told] == [("turn.failed", False)]
    assert "deleted" in told[0]["reason"]


async def test_a_turn_that_waits_for_another_process_says_so_and_is_told_when_it_is_stopped_there(
    turn: Turn, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FOLLOW_EVERY_S", 0.05)

    def elsewhere() -> None:
        other, _ = turn_start(conversation=turn.conversation, user=alice, text="first", client_key="other")
        Turn.objects.filter(pk=other.pk).update(
            state=Turn.State.RUNNING, runner="another-host:1:x", heartbeat_at=timezone.now()
        )

    await in_database(elsewhere)
    subscription = hub.subscribe(turn.conversation_id)
    runner.submit(turn, user_id=alice.pk, limit=4)
    async with asyncio.timeout(20):
        waits = await subscription.get()
        assert waits is not None
        assert waits["data"] == {"turn": str(turn.pk), "queued": True}
        await in_database(turn_stop, turn_id=turn.pk)
        closed = await subscription.get()
    assert closed is not None
    assert (closed["type"], closed["turn"]) == ("turn.done", str(turn.pk))
    hub.unsubscribe(subscription)
    assert await until_over(turn) == Turn.State.CANCELLED

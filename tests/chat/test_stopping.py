"""Stopping a turn at the moments when it is about to begin: whatever runs on then claims nothing."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from asgiref.sync import sync_to_async

from crewsite.chat import preparing
from crewsite.chat import runner as module
from crewsite.chat.models import Turn
from crewsite.chat.preparing import begin
from crewsite.chat.runner import runner
from crewsite.chat.services import turn_retry, turn_start
from crewsite.chat.threads import in_database
from tests.factories import make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

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


async def test_a_turn_that_is_stopped_while_it_begins_can_be_tried_again(
    turn: Turn, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_it, go_on = threading.Event(), threading.Event()

    def slowly(*args: Any, **kwargs: Any) -> Any:
        at_it.set()
        assert go_on.wait(20)
        return begin(*args, **kwargs)

    monkeypatch.setattr(module, "begin", slowly)
    runner.submit(turn, user_id=alice.pk, limit=1)
    await asyncio.to_thread(at_it.wait, 20)
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

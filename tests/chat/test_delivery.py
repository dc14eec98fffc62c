"""What one socket is told, whatever is dropped, replayed or asked for again. Real rows, a turn that runs in
this loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from crewsite.chat import delivery as delivery_module
from crewsite.chat.delivery import Delivery
from crewsite.chat.hub import Subscription
from crewsite.chat.live import LiveTurn
from crewsite.chat.payloads import Frame, turn_closed_frame, turn_started_frame
from crewsite.chat.services import Draft, turn_begin, turn_finish, turn_start, turns_save
from crewsite.chat.threads import in_database
from tests.factories import make_conversation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from crewsite.accounts.models import User, Workspace
    from crewsite.chat.models import Turn
    from crewsite.conversations.models import Conversation

pytestmark = pytest.mark.django_db(transaction=True)


class Stage:
    """A running turn with one socket on it: frames go through the socket's bounded queue."""

    def __init__(self, turn: Turn, conversation: Conversation, queue_size: int) -> None:
        self.turn = turn
        self.subscription = Subscription(conversation.pk, size=queue_size)
        self.live_turn: LiveTurn | None = LiveTurn(turn.pk, self.subscription.put)
        self.told: list[Frame] = []
        self.delivery = Delivery(conversation, self.tell)

    async def tell(self, frame: Frame) -> None:
        self.told.append(frame)

    def live(self, turn_id: UUID) -> LiveTurn | None:
        return self.live_turn if turn_id == self.turn.pk else None

    def running_in(self, _conversation_id: UUID) -> UUID | None:
        return self.turn.pk if self.live_turn else None

    def produce(self, *texts: str) -> None:
        assert self.live_turn is not None
        for text in texts:
            self.live_turn.add_text(text)
            self.live_turn.flush()

    async def pump(self) -> None:
        """Hand the socket all that waits in its queue."""
        while self.subscription.waiting:
            frame = await self.subscription.get()
            await (self.delivery.catch_up() if frame is None else self.delivery.deliver(frame))

    @property
    def text(self) -> str:
        return "".join(frame["text"] for frame in self.told if frame["type"] == "delta")


@dataclass
class Begun:
    turn: Turn
    conversation: Conversation


@pytest.fixture
def begun(alice: User, home: Workspace) -> Begun:
    conversation = make_conversation(alice, home)
    turn, _ = turn_start(conversation=conversation, user=alice, text="hello", client_key="k")
    running = turn_begin(turn_id=turn.pk)
    assert running is not None
    return Begun(running, conversation)


@pytest.fixture
def stage(begun: Begun, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    made = Stage(begun.turn, begun.conversation, queue_size=5)
    monkeypatch.setattr(delivery_module, "runner", made)
    yield made


async def test_a_slow_socket_that_lost_frames_still_gets_every_character_once(stage: Stage) -> None:
    await stage.delivery.deliver(turn_started_frame(stage.turn))
    stage.produce("a", "b")
    await stage.pump()
    stage.produce(*[str(number) for number in range(50)])
    await stage.pump()
    stage.produce("z")
    await stage.pump()
    assert stage.text == "ab" + "".join(str(number) for number in range(50)) + "z"


async def test_a_resume_gets_the_rest_and_frames_that_were_under_way_are_not_repeated(stage: Stage) -> None:
    stage.delivery.begin(last_seq=1)
    stage.delivery.hold(stage.turn.pk)
    stage.produce("one ", "two ")
    await stage.pump()
    assert stage.told == []
    stage.produce("three ")  # waits in the queue while the resume is answered
    await stage.delivery.resume(after_seq=1, turn_id=stage.turn.pk, offset=4)
    await stage.pump()
    stage.produce("four")
    await stage.pump()
    assert stage.text == "two three four"


async def test_a_resume_past_the_end_waits_for_more(stage: Stage) -> None:
    stage.produce("one")
    await stage.delivery.resume(after_seq=0, turn_id=stage.turn.pk, offset=99)
    await stage.pump()
    stage.produce("two")
    await stage.pump()
    assert stage.text == "two"


async def test_an_answer_that_ended_while_frames_were_lost_is_told_as_done(stage: Stage) -> None:
    await stage.delivery.deliver(turn_started_frame(stage.turn))
    stage.produce(*"abcdefghij")
    done = await in_database(turn_finish, turn_id=stage.turn.pk, text="abcdefghij")
    stage.subscription.put(turn_closed_frame(done))
    stage.live_turn = None
    await stage.pump()
    assert stage.told[-1]["type"] == "turn.done"
    assert stage.told[-1]["message"]["content"] == "abcdefghij"


async def test_a_turn_of_another_process_is_followed_from_its_row(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_module, "FOLLOW_EVERY_S", 0.01)
    stage.live_turn = None
    half = Draft(stage.turn.pk, "half", tool_calls=[], first_token_at=None)
    await in_database(turns_save, [half])
    told: list[str] = []

    async def tell(frame: Frame) -> None:
        told.append(f"{frame['type']}:{frame.get('text', '')}")
        if frame["type"] == "delta" and frame["text"] == "half":
            await in_database(turn_finish, turn_id=stage.turn.pk, text="half and whole")

    follower = Delivery(stage.turn.conversation, tell)
    await follower.follow_row(stage.turn.pk)
    assert told == ["turn.started:", "delta:half", "turn.done:"]

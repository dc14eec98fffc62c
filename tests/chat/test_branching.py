"""A question sent again: its turn, what the model is told on each branch, and who may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crewsite.chat.branching import BranchRefused, turn_edit, version_choose
from crewsite.chat.preparing import Prepared, prepare
from crewsite.chat.services import turn_begin, turn_finish, turn_start
from crewsite.conversations.models import Conversation, Message
from tests.chat.client import ChatClient
from tests.factories import make_conversation, make_message

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from crewsite.chat.models import Turn
    from tests.llm_server import LlmServer
    from tests.site import Seat, Site

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


@pytest.fixture
def talk(alice: User, home: Workspace) -> Conversation:
    return make_conversation(alice, home)


def finish(turn: Turn) -> Prepared:
    begun = turn_begin(turn_id=turn.pk)
    assert begun is not None
    made = prepare(begun)
    turn_finish(turn_id=turn.pk, text=f"re {turn.user_message.content}")
    return made


def ask(talk: Conversation, text: str) -> Turn:
    turn, _ = turn_start(conversation=talk, user=talk.owner, text=text, client_key=text)
    finish(turn)
    return turn


def edit(talk: Conversation, message: Message, text: str, key: str = "edit") -> Turn:
    return turn_edit(
        conversation=talk, message_id=message.pk, user=talk.owner, text=text, client_key=key
    ).turn


def said(prepared: Prepared) -> list[str]:
    return [message.content for message in prepared.history]


def test_the_model_is_told_the_branch_and_nothing_of_the_others(talk: Conversation) -> None:
    ask(talk, "one")
    second = ask(talk, "two")
    assert said(finish(edit(talk, second.user_message, "two, better"))) == ["one", "re one"]
    version_choose(conversation=talk, message_id=second.user_message_id)
    third, _ = turn_start(conversation=talk, user=talk.owner, text="three", client_key="three")
    assert said(finish(third)) == ["one", "re one", "two", "re two"]


def test_the_same_key_again_is_the_same_version(talk: Conversation) -> None:
    first = ask(talk, "one")
    turn = edit(talk, first.user_message, "uno")
    finish(turn)
    assert edit(talk, first.user_message, "uno") == turn
    assert talk.messages.filter(role=Message.Role.USER).count() == 2


def test_nothing_branches_while_an_answer_is_written(talk: Conversation) -> None:
    first = ask(talk, "one")
    waiting, _ = turn_start(conversation=talk, user=talk.owner, text="two", client_key="two")
    with pytest.raises(BranchRefused) as raised:
        edit(talk, first.user_message, "uno")
    assert raised.value.code == "busy"
    finish(waiting)
    edit(talk, first.user_message, "uno")


def test_only_questions_with_a_turn_in_this_conversation_branch(
    talk: Conversation, alice: User, home: Workspace
) -> None:
    other = ask(make_conversation(alice, home), "elsewhere")
    handed_over = make_message(talk, "from a transcript")
    for message in (other.user_message, handed_over):
        with pytest.raises(BranchRefused) as raised:
            edit(talk, message, "mine now")
        assert raised.value.code == "not_found"
    assert not talk.messages.filter(content="mine now").exists()


async def test_over_the_socket_a_version_is_announced_answered_and_chosen(
    site: Site, seat: Seat, llm: LlmServer
) -> None:
    async with ChatClient(site, seat) as chat:
        asked = (await chat.send("port 8080"))["message"]
        answer = (await chat.end())["message"]
        await chat.say("send", client_key="again", text="port 9090", edits=asked["id"])
        branch = await chat.receive("branch")
        assert branch["hidden"] == [asked["id"], answer["id"]]
        version = (await chat.receive("message"))["message"]
        assert version["versions"] == {"ids": [asked["id"], version["id"]], "at": 2}
        assert (await chat.end())["message"]["content"] == "You said: port 9090"
        assert "8080" not in str(llm.requests[-1]["messages"])
        await chat.say("branch", message=asked["id"])
        assert (await chat.receive("branch"))["hidden"] is None
        await chat.say("branch", message=10**9)
        assert (await chat.receive("error"))["code"] == "not_found"
    async with ChatClient(site, seat) as later:
        await later.say("resume", after_seq=0)
        assert (await later.receive("message"))["message"]["content"] == "port 8080"
        assert (await later.receive("message"))["message"]["content"] == "You said: port 8080"
        assert later.hello["branch"] > branch["branch"]

"""Tools that ask the person: approve, deny, silence, and rules that speak first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest
from constance.test import override_config

from crewsite.chat import permissions as module
from crewsite.chat.models import ToolQuestion
from crewsite.chat.offered_tools import offered_tools
from crewsite.chat.permissions import Option, ask_person, permissions
from crewsite.chat.questions import question_answer, question_ask, question_choice, question_give_up
from crewsite.chat.services import turn_begin, turn_retry, turn_start, turn_stop
from crewsite.chat.threads import in_database
from crewsite.chat.tool_rules import Rule, Rules
from crewsite.llm.tools import ToolContext
from tests.chat.client import ChatClient
from tests.factories import make_conversation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crewsite.accounts.models import User, Workspace
    from tests.llm_server import LlmServer
    from tests.site import Seat, Site

CALL = {"id": "call-1", "name": "shell", "state": "running", "args_summary": "{}"}


class Cards:
    def __init__(self) -> None:
        self.states: list[str] = []
        self.asked = asyncio.Event()

    def add_tool(self, call: dict[str, Any]) -> None:
        self.states.append(call["state"])
        if call["state"] == "asking":
            self.asked.set()


@pytest.mark.django_db
def test_deny_beats_approve_and_what_neither_names_asks() -> None:
    with override_config(CHAT_TOOLS_APPROVED="memory_*, web_read", CHAT_TOOLS_DENIED="memory_remember"):
        assert Rules.live().of("memory_recall") == Rule.APPROVED
        assert Rules.live().of("memory_remember") == Rule.DENIED
        assert Rules.live().of("web_read") == Rule.APPROVED
        assert Rules.live().of("web_reader") == Rule.ASK


@pytest.mark.django_db
def test_a_denied_tool_is_not_offered_and_one_that_asks_needs_somebody(alice: User, home: Workspace) -> None:
    context = ToolContext(home, alice, make_conversation(alice, home))

    async def ask(call_id: str, name: str, args: dict[str, Any]) -> bool:
        return True

    with override_config(CHAT_TOOLS_APPROVED="learn_list", CHAT_TOOLS_DENIED="memory_*"):
        assert [tool.name for tool in offered_tools(context, Rules.live())] == ["learn_list"]
        offered = offered_tools(context, Rules.live(), ask)
    assert [tool.name for tool in offered] == ["learn_add", "learn_list", "learn_remove"]
    assert set(offered[0].function_schema.json_schema["properties"]) >= {"rule"}
    assert "run" not in offered[0].function_schema.json_schema["properties"]


@pytest.fixture
def turn(alice: User, home: Workspace) -> UUID:
    """The id of a running turn."""
    turn, _ = turn_start(
        conversation=make_conversation(alice, home), user=alice, text="Do it.", client_key="one"
    )
    assert turn_begin(turn_id=turn.pk) is not None
    return turn.pk


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("choice", "state"), [("allow", "running"), ("deny", "denied")])
async def test_the_person_decides(turn: UUID, choice: str, state: str) -> None:
    cards = Cards()
    asking = asyncio.create_task(ask_person(cards, turn, CALL))
    await cards.asked.wait()
    assert not await permissions.answer(turn, "call-1", "something else")
    assert not await permissions.answer(uuid4(), "call-1", choice)
    assert await permissions.answer(turn, "call-1", choice)
    chosen = await asking
    assert chosen is not None
    assert chosen.allows is (choice == "allow")
    assert cards.states == ["asking", state]
    assert not await permissions.answer(turn, "call-1", choice)
    assert not permissions._waiting


@pytest.mark.django_db(transaction=True)
async def test_silence_is_a_no_and_an_answer_after_it_is_refused(
    turn: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PERMISSION_TIMEOUT_S", 0.02)
    cards = Cards()
    assert await ask_person(cards, turn, CALL, [Option("yes", "Yes", allows=True)]) is None
    assert cards.states == ["asking", "denied"]
    assert not await permissions.answer(turn, "call-1", "yes")


@pytest.mark.django_db(transaction=True)
async def test_an_answer_that_only_the_row_has_is_found(turn: UUID) -> None:
    cards = Cards()
    asking = asyncio.create_task(ask_person(cards, turn, CALL))
    await cards.asked.wait()
    assert await in_database(question_answer, turn_id=turn, call_id="call-1", choice="allow") is not None
    chosen = await asking
    assert chosen is not None
    assert chosen.allows


@pytest.mark.django_db
def test_an_answer_that_came_just_before_giving_up_counts(turn: UUID) -> None:
    question = question_ask(turn_id=turn, call_id="call-1", choices=["allow"])
    assert question_answer(turn_id=turn, call_id="call-1", choice="allow") is not None
    assert question_give_up(question.pk) == "allow"


@pytest.mark.django_db
def test_the_end_of_a_turn_closes_its_questions_and_a_retry_asks_anew(turn: UUID) -> None:
    question_ask(turn_id=turn, call_id="call-1", choices=["allow"])
    assert question_answer(turn_id=turn, call_id="call-1", choice="allow") is not None
    question_ask(turn_id=turn, call_id="call-2", choices=["allow"])
    turn_stop(turn_id=turn)
    assert not ToolQuestion.objects.filter(is_open=True).exists()
    turn_retry(turn_id=turn)
    turn_begin(turn_id=turn)
    assert question_choice(question_ask(turn_id=turn, call_id="call-1", choices=["allow"]).pk) == ""


@pytest.fixture
def asking_site(site: Site) -> Iterator[Site]:
    rules = "from constance import config\nconfig.CHAT_TOOLS_APPROVED = {!r}"
    site.run(rules.format("memory_*"))
    yield site
    site.run(rules.format("learn_*,memory_*"))


@pytest.mark.sqlite_only
async def test_over_the_socket_a_call_asks_is_denied_and_the_answer_goes_on(
    asking_site: Site, seat: Seat, llm: LlmServer
) -> None:
    async with ChatClient(asking_site, seat) as chat:
        await chat.send('[script:learn rule="Never sail on Fridays"]')
        while (card := await chat.receive("tool"))["state"] != "asking":
            pass
        assert [choice["id"] for choice in card["choices"]] == ["allow", "deny"]
        async with ChatClient(asking_site, seat) as other_tab:
            assert (await other_tab.receive("tool"))["state"] == "asking"
            await other_tab.say("answer", turn=card["turn"], call=card["id"], choice="deny")
        done = await chat.end()
        assert done["message"]["content"].endswith("and the answer goes on.")
        assert [call["state"] for call in done["message"]["tool_calls"]] == ["denied"]
        assert not asking_site.query("SELECT 1 FROM lessons_lesson WHERE rule = 'Never sail on Fridays'")
        results = [m for m in llm.requests[-1]["messages"] if m["role"] == "tool"]
        assert "did not allow" in str(results)

"""Tools while streaming, undo, and what the modes forbid (05.7 item 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.chat.client import ChatClient

if TYPE_CHECKING:
    from tests.llm_server import LlmServer
    from tests.site import Seat, Site

pytestmark = pytest.mark.sqlite_only


def lessons(site: Site, rule: str) -> list[bool]:
    """Whether each lesson of that text is deleted."""
    rows = site.query("SELECT is_deleted FROM lessons_lesson WHERE rule = ? ORDER BY id", rule)
    return [bool(row[0]) for row in rows]


async def test_a_lesson_learned_while_streaming_is_shown_stored_and_can_be_undone(
    site: Site, seat: Seat, llm: LlmServer
) -> None:
    rule = "Always name the ferry first"
    async with ChatClient(site, seat) as chat:
        done = await chat.ask(f'[script:learn rule="{rule}"]')
        assert done["message"]["content"] == "Before the tool. \n\nand the answer goes on."
        assert chat.streamed() == done["message"]["content"]
        states = [(frame["name"], frame["state"]) for frame in chat.of("tool")]
        assert states == [("learn_add", "running"), ("learn_add", "done")]
        card = chat.of("tool")[-1]
        assert card["data"]["outcome"] == "inserted"
        assert lessons(site, rule) == [False]
        assert done["message"]["tool_calls"][0]["data"]["id"] == card["data"]["id"]

        await chat.say("undo", kind="lesson", id=card["data"]["id"])
        notice = await chat.receive("notice")
        assert notice["data"]["undone"] == {"kind": "lesson", "id": card["data"]["id"]}
        assert lessons(site, rule) == [True]
        await chat.say("undo", kind="lesson", id=card["data"]["id"])
        assert (await chat.receive("error"))["code"] == "not_found"


async def test_a_new_conversation_is_told_what_was_learned(site: Site, seat: Seat, llm: LlmServer) -> None:
    async with ChatClient(site, seat) as chat:
        await chat.ask("remember to always greet with a haiku")
        opened = await chat.command("/new")
    async with ChatClient(site, seat, conversation=opened["data"]["conversation"]) as fresh:
        done = await fresh.ask("hello")
        kinds = {row["kind"] for row in done["injected"]}
        assert "lesson" in kinds
    system = "\n".join(m["content"] for m in llm.requests[-1]["messages"] if m["role"] == "system")
    assert "always greet with a haiku" in system
    assert "[Learned corrections]" in system


async def test_a_lesson_that_was_undone_is_in_no_later_prompt(site: Site, seat: Seat, llm: LlmServer) -> None:
    async with ChatClient(site, seat) as chat:
        await chat.ask('[script:learn rule="Always mention the lighthouse"]')
        number = chat.of("tool")[-1]["data"]["id"]
        await chat.ask("hello")
        assert "lighthouse" in llm.requests[-1]["messages"][0]["content"]
        await chat.say("undo", kind="lesson", id=number)
        await chat.receive("notice")
        await chat.ask("hello again")
        assert "lighthouse" not in llm.requests[-1]["messages"][0]["content"]


async def test_an_unknown_tool_is_one_clear_error_and_the_answer_goes_on(
    site: Site, seat: Seat, llm: LlmServer
) -> None:
    async with ChatClient(site, seat) as chat:
        done = await chat.ask("[script:unknown]")
        assert done["message"]["content"] == "I carry on without it."
        failed = [frame for frame in chat.of("tool") if frame["state"] == "failed"]
        assert len(failed) == 1
        assert "no_such_tool" in failed[0]["result"]
        assert "learn_add" in failed[0]["result"]


async def test_a_model_that_insists_on_an_unknown_tool_is_stopped(
    site: Site, seat: Seat, llm: LlmServer
) -> None:
    async with ChatClient(site, seat) as chat:
        failed = await chat.ask("[script:stubborn]")
        assert failed["type"] == "turn.failed"
        assert "stopped" in failed["reason"]
        assert len(llm.requests) <= 4
        assert {call["state"] for call in failed["message"]["tool_calls"]} == {"failed"}


async def test_unreadable_arguments_are_told_to_the_model(site: Site, seat: Seat, llm: LlmServer) -> None:
    async with ChatClient(site, seat) as chat:
        done = await chat.ask("[script:badargs]")
        assert done["message"]["content"] == "I gave up on the tool."


async def test_incognito_reads_memory_and_writes_none(site: Site, seat: Seat, llm: LlmServer) -> None:
    rule = "Always stay on the quiet path"
    async with ChatClient(site, seat) as chat:
        assert (await chat.command("/incognito"))["data"] == {"mode": "incognito"}
        await chat.ask(f'[script:learn rule="{rule}"]')
        card = chat.of("tool")[-1]
        assert card["state"] == "failed"
        assert "incognito" in card["result"]
        assert lessons(site, rule) == []
        await chat.ask("[script:recall query=anything]")
        assert chat.of("tool")[-1]["state"] == "done"
        assert (await chat.command("/remember the sky is green today"))["level"] == "warning"


async def test_temporary_neither_reads_nor_writes(site: Site, seat: Seat, llm: LlmServer) -> None:
    async with ChatClient(site, seat) as chat:
        await chat.ask('[script:learn rule="Always water the fern"]')
        await chat.command("/temporary")
        done = await chat.ask("[script:recall query=fern]")
        assert chat.of("tool")[-1]["state"] == "failed"
        assert done["injected"] == []
        assert "fern" not in llm.requests[-1]["messages"][0]["content"]
        private = site.query(
            "SELECT seq, private FROM conversations_message WHERE conversation_id = ? ORDER BY seq",
            seat.conversation.replace("-", ""),
        )
        assert private == [(1, 0), (2, 0), (3, 1), (4, 1)]
        assert (await chat.command("/recall fern"))["level"] == "warning"
        assert (await chat.command("/persistent"))["data"] == {"mode": "persistent"}


async def test_what_went_into_a_prompt_is_recorded_row_by_row(site: Site, seat: Seat, llm: LlmServer) -> None:
    async with ChatClient(site, seat) as chat:
        await chat.ask('[script:learn rule="Always count the gulls"]')
        done = await chat.ask("hello")
        rows = site.query(
            "SELECT kind, object_id FROM chat_turninjection WHERE turn_id = ? ORDER BY rank",
            done["turn"].replace("-", ""),
        )
        assert rows == [(row["kind"], row["object_id"]) for row in done["injected"]]
        assert rows

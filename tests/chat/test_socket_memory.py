"""A site without a model: answers from memory with citations and the hint, and the commands (05.7 items 8
and 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.chat.client import ChatClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.site import Seat, Site

pytestmark = pytest.mark.sqlite_only
HINT = "No language model is connected"


async def test_without_a_model_the_socket_says_so(quiet_site: Site, quiet_seat: Seat) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        assert chat.hello["model"] == "memory"
        assert "llm_absent" in chat.hello["degraded"]


async def test_what_was_asked_to_be_remembered_answers_a_later_question_with_its_citation(
    quiet_site: Site, quiet_seat: Seat
) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        kept = await chat.ask("Remember that my favourite harbour is Vathy.")
        assert "user.favourite_harbour" in kept["message"]["content"]
        assert HINT in kept["message"]["content"]
        answer = await chat.ask("Which harbour do I like?")
        assert "Vathy" in answer["message"]["content"]
        assert "[sem:user.favourite_harbour]" in answer["message"]["content"]
        assert HINT not in answer["message"]["content"]  # once a conversation


async def test_a_rule_is_saved_with_a_card_and_undone(quiet_site: Site, quiet_seat: Seat) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        done = await chat.ask("remember to always anchor before dark")
        assert "Lesson saved" in done["message"]["content"]
        card = chat.of("tool")[-1]
        assert (card["name"], card["state"]) == ("learn_add", "done")
        assert card["data"]["rule"] == "always anchor before dark"
        await chat.say("undo", kind="lesson", id=card["data"]["id"])
        assert "Taken back" in (await chat.receive("notice"))["text"]
        assert "Nothing" in (await chat.command("/forget anchor before dark"))["text"]


async def test_a_fact_that_was_changed_and_undone_has_its_old_value_again(
    quiet_site: Site, quiet_seat: Seat
) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        await chat.ask("remember that my sailmaker is Petros")
        await chat.ask("remember that my sailmaker is Nikos")
        await chat.say("undo", kind="semantic", id=chat.of("tool")[-1]["data"]["id"])
        await chat.receive("notice")
        answer = await chat.command("/recall sailmaker")
        assert "Petros" in answer["text"]
        assert "Nikos" not in answer["text"]


async def test_learn_recall_and_forget(quiet_site: Site, quiet_seat: Seat) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        learned = await chat.command("/learn Use metric units -- NOT: nautical miles")
        assert learned["data"]["outcome"] == "inserted"
        cited = learned["data"]["citation"]
        found = await chat.command("/recall metric units")
        assert f"[{cited}]" in found["text"]
        asked = await chat.command("/forget metric units")
        assert {choice["citation"] for choice in asked["data"]["candidates"]} == {cited}
        assert f"[{cited}]" in (await chat.command("/recall metric units"))["text"]  # listing forgets nothing
        assert (await chat.command(f"/forget {cited}"))["data"]["forgotten"] == [cited]
        assert cited not in (await chat.command("/recall metric units"))["text"]


async def test_all_is_forgotten_only_of_what_has_the_words(quiet_site: Site, quiet_seat: Seat) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        kept = (await chat.command("/learn Paint the striped buoy every spring"))["data"]["citation"]
        gone = (await chat.command("/learn Never feed the striped zebra"))["data"]["citation"]
        assert "Nothing" in (await chat.command("/forget giraffe"))["text"]
        assert "Nothing" in (await chat.command("/forget giraffe --all"))["text"]
        listed = await chat.command("/forget striped zebra")
        assert {choice["citation"] for choice in listed["data"]["candidates"]} == {kept, gone}
        assert "--all" not in listed["text"]
        assert (await chat.command("/forget striped zebra --all"))["data"]["forgotten"] == [gone]
        assert f"[{kept}]" in (await chat.command("/recall striped buoy"))["text"]


async def test_nothing_found_is_said_and_nothing_is_made_up(quiet_site: Site, quiet_seat: Seat) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        done = await chat.ask("zzyzx qwxv?")
        assert "Memory holds nothing about this." in done["message"]["content"]
        assert "limited: no search by meaning" in done["message"]["content"]


async def test_a_secret_is_refused_with_its_reason(quiet_site: Site, quiet_seat: Seat) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        done = await chat.ask("remember that the deploy token is ghp_" + "a1B2" * 9)
        assert "Not saved" in done["message"]["content"]
        assert chat.of("tool")[-1]["state"] == "failed"


async def test_hostile_memory_is_inert_when_shown(quiet_site: Site, quiet_seat: Seat) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        await chat.ask(
            "remember that the crow's nest label is <img src=x onerror=alert(1)> [x](javascript:alert(1))"
        )
        answer = await chat.ask("what does the crow's nest label say?")
        assert "onerror" in answer["message"]["content"]
        assert "<img" not in answer["html"]
        assert 'href="javascript' not in answer["html"]


async def test_the_small_commands_answer(quiet_site: Site, quiet_seat: Seat) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        assert "/learn RULE" in (await chat.command("/help"))["text"]
        assert (await chat.command("/nonsense"))["level"] == "warning"
        assert (await chat.command("/learn"))["level"] == "warning"
        assert "| lessons |" in (await chat.command("/memory stats"))["text"]
        assert "Nothing has been sent" in (await chat.command("/context"))["text"]
        await chat.ask("hello")
        assert "critical_rules" in (await chat.command("/context"))["text"]


async def test_a_command_typed_as_a_message_is_run_and_not_kept(quiet_site: Site, quiet_seat: Seat) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        await chat.say("send", client_key="k", text="/help")
        assert "/learn RULE" in (await chat.receive("notice", "message"))["text"]
    async with ChatClient(quiet_site, quiet_seat) as again:
        assert again.hello["last_seq"] == 0


async def test_a_path_is_no_command(quiet_site: Site, quiet_seat: Seat) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        assert (await chat.ask("/etc/hosts is broken"))["type"] == "turn.done"


async def test_a_member_forgets_what_they_had_remembered_and_not_what_others_had(
    quiet_site: Site, quiet_seats: Iterator[Seat]
) -> None:
    mine, theirs = next(quiet_seats), next(quiet_seats)
    async with ChatClient(quiet_site, mine) as chat, ChatClient(quiet_site, theirs) as other:
        taught = (await chat.command("/learn Furl the jib before the reef"))["data"]
        assert "Somebody else" in (await other.command(f"/forget {taught['citation']}"))["text"]
        assert "Somebody else" in (await other.command("/forget furl the jib --all"))["text"]
        await other.say("undo", kind="lesson", id=taught["id"])
        assert (await other.receive("error"))["code"] == "forbidden"
        assert taught["citation"] in (await chat.command("/recall furl jib"))["text"]
        assert (await chat.command(f"/forget {taught['citation']}"))["data"]["forgotten"]


async def test_a_password_is_not_kept_and_a_wish_to_forget_is_shown_its_command(
    quiet_site: Site, quiet_seat: Seat
) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat:
        refused = await chat.ask("remember that my password is hunter2")
        assert "reads like a password" in refused["message"]["content"]
        assert chat.of("tool")[-1]["data"]["code"] == "credential"
        asked = await chat.ask("Please forget my bilge pump.")
        assert "`/forget my bilge pump`" in asked["message"]["content"]


async def test_what_was_forgotten_at_once_comes_back_at_once(quiet_site: Site, quiet_seat: Seat) -> None:
    async with ChatClient(quiet_site, quiet_seat) as chat, ChatClient(quiet_site, quiet_seat) as tab:
        for said in ("/learn Grease the windlass monthly", "/remember The windlass was greased by Otto"):
            await chat.command(said)
        gone = await chat.command("/forget windlass --all")
        assert len(gone["data"]["forgotten"]) == len(gone["data"]["rows"]) == 2
        assert "Otto" not in (await chat.command("/recall windlass"))["text"]
        await chat.say("restore", rows=gone["data"]["rows"])
        assert (await chat.receive("notice"))["data"]["restored"] == gone["data"]["rows"]
        assert (await tab.receive("notice"))["data"]["restored"] == gone["data"]["rows"]
        told = (await chat.command("/recall windlass"))["text"]
        assert "Otto" in told
        assert "monthly" in told


async def test_one_row_that_was_forgotten_comes_back_and_nobody_elses_does(
    quiet_site: Site, quiet_seats: Iterator[Seat]
) -> None:
    mine, theirs = next(quiet_seats), next(quiet_seats)
    async with ChatClient(quiet_site, mine) as chat, ChatClient(quiet_site, theirs) as other:
        taught = (await chat.command("/learn Coil the mainsheet clockwise"))["data"]
        gone = (await chat.command(f"/forget {taught['citation']}"))["data"]
        await other.say("restore", rows=gone["rows"])
        assert (await other.receive("error"))["code"] == "forbidden"
        await other.say("restore", rows=[{"kind": "lesson", "id": 2**40}])
        assert (await other.receive("error"))["code"] == "not_found"
        await chat.say("restore", rows=gone["rows"])
        assert "Remembered again: “Coil the mainsheet" in (await chat.receive("notice"))["text"]
        await chat.say("restore", rows=gone["rows"])  # a second press
        assert (await chat.receive("notice"))["data"]["restored"] == gone["rows"]

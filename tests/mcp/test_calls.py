"""One call: held to time, size and mode of writing, redacted, and recorded whatever came of it."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import DatabaseError
from django.utils import timezone

from crewsite.accounts.services import token_create
from crewsite.llm.tools import ToolContext, ToolResult
from crewsite.mcp import calls, catalogue
from crewsite.mcp.callers import Caller, caller_resolve
from crewsite.mcp.calls import tool_call
from crewsite.mcp.models import ToolCall
from crewsite.mcp.tasks import calls_prune

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "ghp_" + "a1B2" * 9
released = threading.Event()


def say(context: ToolContext, text: str = "hello", times: int = 1) -> ToolResult:
    """Says it."""
    return ToolResult(text * times, {"said": [text], "by": context.user.username})


def wait(context: ToolContext) -> ToolResult:
    """Waits."""
    released.wait(5)
    return ToolResult("late")


def breaks(context: ToolContext) -> ToolResult:
    """Breaks."""
    raise RuntimeError("password=hunter2-hunter2")


def refuses(context: ToolContext) -> ToolResult:
    """Refuses."""
    return ToolResult("Not kept: too short.", {"outcome": "refused", "code": "rule_short"})


@pytest.fixture
def caller(alice: User, home: Workspace, monkeypatch: pytest.MonkeyPatch) -> Caller:
    specs = {
        function.__name__: catalogue.ToolSpec(
            function.__name__, function, catalogue.parameters_of(function), reads_only=False, deletes=False
        )
        for function in (say, wait, breaks, refuses)
    }
    monkeypatch.setattr(catalogue, "all_tools", lambda: specs)
    monkeypatch.setattr(calls, "all_tools", lambda: specs)
    token, _ = token_create(user=alice, name="laptop")
    return caller_resolve(user=alice, token=token, transport="http", client="agent \n 1.0")


def recorded() -> dict[str, Any]:
    row = ToolCall.objects.get()
    return {name: getattr(row, name) for name in ("tool", "outcome", "note", "chars", "client", "token_name")}


async def test_an_answer_is_text_and_structured_and_leaves_a_record(caller: Caller) -> None:
    answer = await tool_call(caller, "say", {"text": "hi"})
    assert (answer.text, answer.is_error) == ("hi", False)
    assert answer.structured == {"said": ["hi"], "by": "alice", "text": "hi"}


def test_a_record_names_person_token_and_agent_but_not_what_was_said(caller: Caller) -> None:
    calls.call_record(caller=caller, tool="say", answer=calls.Answer("hi there"), duration_ms=3)
    row = ToolCall.objects.get()
    assert recorded() == {
        "tool": "say",
        "outcome": "ok",
        "note": "",
        "chars": 8,
        "client": "agent 1.0",
        "token_name": "laptop",
    }
    assert "hi there" not in str(row.__dict__)


async def test_a_long_answer_is_cut_and_says_so(caller: Caller) -> None:
    answer = await tool_call(caller, "say", {"text": "x", "times": 20_000})
    assert len(answer.text) == 16_000
    assert answer.text.endswith("may hold]")


async def test_a_secret_leaves_neither_as_text_nor_in_the_structure(caller: Caller) -> None:
    answer = await tool_call(caller, "say", {"text": f"key {SECRET}"})
    assert "a1B2" not in str(answer.structured)


async def test_a_late_tool_is_given_up(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "TOOL_TIMEOUT_S", 0.05)
    answer = await tool_call(caller, "wait", {})
    released.set()
    assert (answer.outcome, answer.is_error) == ("timeout", True)
    assert "took longer" in answer.text


async def test_a_broken_tool_shows_no_internals(caller: Caller) -> None:
    answer = await tool_call(caller, "breaks", {})
    assert (answer.outcome, answer.text) == ("failed", "breaks failed: RuntimeError. Try again later.")


async def test_a_refusal_is_an_error_with_its_code(caller: Caller) -> None:
    answer = await tool_call(caller, "refuses", {})
    assert (answer.is_error, answer.note, answer.structured["code"]) == (True, "rule_short", "rule_short")


async def test_a_ledger_that_fails_costs_no_answer(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**fields: Any) -> None:
        raise DatabaseError("locked")

    monkeypatch.setattr(ToolCall.objects, "create", fail)
    assert (await tool_call(caller, "say", {})).text == "hello"


def test_a_removed_member_may_write_no_more(caller: Caller, alice: User, home: Workspace) -> None:
    from crewsite.accounts.errors import WorkspaceNotFound
    from crewsite.accounts.models import Membership

    Membership.objects.filter(user=alice).update(role="viewer")
    assert not caller_resolve(user=alice, token=caller.token, transport="http").may_write
    Membership.objects.filter(user=alice).delete()
    with pytest.raises(WorkspaceNotFound):
        caller_resolve(user=alice, token=caller.token, transport="http")


def test_old_calls_are_pruned_and_the_newest_kept(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    for days in (40, 31, 29, 1, 0):
        calls.call_record(caller=caller, tool=f"t{days}", answer=calls.Answer("x"), duration_ms=1)
        ToolCall.objects.filter(tool=f"t{days}").update(at=timezone.now() - timedelta(days=days))
    assert calls_prune() == 2
    monkeypatch.setattr("crewsite.mcp.tasks.CALLS_KEEP_ROWS", 2)
    assert calls_prune() == 1
    assert set(ToolCall.objects.values_list("tool", flat=True)) == {"t1", "t0"}
    assert calls_prune() == 0

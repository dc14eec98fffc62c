"""Tool calls of agents in one shape: names, diffs, the order of choices."""

from __future__ import annotations

from typing import Any

import pytest
from acp.schema import FileEditToolCallContent, PermissionOption, ToolCallUpdate

from crewsite.llm.acp_calls import call_of, choices_of
from crewsite.llm.constants import ACP_CHANGE_MAX_CHARS


def update(**fields: Any) -> ToolCallUpdate:
    return ToolCallUpdate(tool_call_id="call-1", **fields)


def change(old: str | None, new: str, path: str = "/site/note.txt") -> FileEditToolCallContent:
    return FileEditToolCallContent(type="diff", path=path, old_text=old, new_text=new)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"title": "Writing to note.txt", "kind": "edit"}, "Writing to note.txt"),
        ({"title": "/site/note.txt", "kind": "edit"}, "Edit /site/note.txt"),
        ({"title": "npm test", "kind": "execute"}, "npm test"),
        ({"title": "https://example.com/a", "kind": "fetch"}, "https://example.com/a"),
        ({"kind": "edit"}, "Edit"),
        ({}, "tool"),
    ],
)
def test_a_call_is_named_by_what_it_does(fields: dict[str, Any], name: str) -> None:
    assert call_of(None, update(**fields))["name"] == name


def test_a_later_update_tells_only_what_changed() -> None:
    first = call_of(None, update(title="Read the log", raw_input={"path": "/log"}, status="in_progress"))
    done = call_of(first, update(status="completed"))
    assert (done["name"], done["state"], done["args"]) == ("Read the log", "done", {"path": "/log"})


def test_a_change_is_shown_as_a_diff() -> None:
    call = call_of(None, update(title="Edit", content=[change("one\ntwo\n", "one\n2\n")]))
    assert call["changes"].splitlines() == ["/site/note.txt", "@@ -1,2 +1,2 @@", " one", "-two", "+2"]
    new = call_of(None, update(title="Edit", content=[change(None, "hello")]))
    assert new["changes"].splitlines()[-1] == "+hello"
    assert call_of(new, update(status="completed"))["changes"] == new["changes"]


def test_a_large_change_is_cut_and_says_so() -> None:
    changes = call_of(None, update(content=[change("", "x" * (ACP_CHANGE_MAX_CHARS * 2))]))["changes"]
    assert len(changes) < ACP_CHANGE_MAX_CHARS + 60
    assert changes.endswith("characters more")


def test_the_smallest_permission_comes_first() -> None:
    kinds = ["allow_always", "reject_once", "allow_once"]
    options = [PermissionOption(option_id=kind, name=kind, kind=kind) for kind in kinds]
    assert [choice.id for choice in choices_of(options)] == ["allow_once", "allow_always", "reject_once"]
    assert [choice.allows for choice in choices_of(options)] == [True, True, False]

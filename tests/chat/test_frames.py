from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewsite.chat import frames

TURN = uuid4()


def parse(**fields: Any) -> frames.Request:
    return frames.parse(json.dumps({"v": 1, **fields}))


def code(**fields: Any) -> str:
    with pytest.raises(frames.BadFrame) as raised:
        parse(**fields)
    return raised.value.code


def test_each_frame_of_the_protocol_is_understood() -> None:
    assert parse(type="send", client_key="k", text="hi") == frames.Send("k", "hi")
    assert parse(type="stop", turn=str(TURN)) == frames.Stop(TURN)
    assert parse(type="retry", turn=str(TURN)) == frames.Retry(TURN)
    assert parse(type="resume", after_seq=3, turn=str(TURN), offset=7) == frames.Resume(3, TURN, 7)
    assert parse(type="resume", after_seq=3, turn=None) == frames.Resume(3)
    assert parse(type="command", text="/help") == frames.Command("/help")
    assert parse(type="undo", kind="lesson", id=4) == frames.Undo("lesson", 4)
    assert parse(type="restore", rows=[{"kind": "lesson", "id": 4}]) == frames.Restore((("lesson", 4),))


def test_a_message_of_100_000_characters_passes_and_one_more_does_not() -> None:
    assert isinstance(parse(type="send", client_key="k", text="é" * 100_000), frames.Send)
    with pytest.raises(frames.BadFrame, match="100,001") as raised:
        parse(type="send", client_key="k", text="é" * 100_001)
    assert raised.value.code == "too_long"
    assert raised.value.fields == {"client_key": "k"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"type": "send", "text": "x"}, "bad_client_key"),
        ({"type": "send", "client_key": "", "text": "x"}, "bad_client_key"),
        ({"type": "send", "client_key": "k" * 101, "text": "x"}, "bad_client_key"),
        ({"type": "send", "client_key": "k\x00", "text": "x"}, "bad_client_key"),
        ({"type": "send", "client_key": "\ud800", "text": "x"}, "bad_client_key"),
        ({"type": "send", "client_key": "k", "text": "  \n"}, "empty"),
        ({"type": "send", "client_key": "k", "text": 5}, "empty"),
        ({"type": "send", "client_key": "k", "text": "\x00 \ud800"}, "empty"),
        ({"type": "send", "client_key": "k", "text": "x", "attachments": "y"}, "bad_attachments"),
        ({"type": "stop", "turn": "1"}, "bad_turn"),
        ({"type": "stop"}, "bad_turn"),
        ({"type": "resume", "after_seq": -1}, "bad_number"),
        ({"type": "resume", "after_seq": "1"}, "bad_number"),
        ({"type": "resume", "after_seq": True}, "bad_number"),
        ({"type": "undo", "kind": "user", "id": 1}, "bad_undo"),
        ({"type": "undo", "kind": "lesson", "id": "1"}, "bad_undo"),
        ({"type": "undo", "kind": "lesson", "id": 2**63}, "bad_undo"),
        ({"type": "restore", "rows": []}, "bad_undo"),
        ({"type": "restore", "rows": [{"kind": "lesson", "id": 1}] * 101}, "bad_undo"),
        ({"type": "restore", "rows": ["les:1"]}, "bad_undo"),
        ({"type": "delete"}, "unknown_type"),
        ({}, "unknown_type"),
        ({"v": 2, "type": "send"}, "bad_version"),
    ],
)
def test_a_bad_frame_is_refused_by_name(fields: dict[str, Any], expected: str) -> None:
    assert code(**fields) == expected


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    with pytest.raises(frames.BadFrame):
        frames.parse(text)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(frames.BadFrame):
        frames.parse("[" * 100_000)


def test_a_new_version_names_the_question_it_is_of() -> None:
    assert parse(type="send", client_key="k", text="x", edits=7) == frames.Send("k", "x", edits=7)
    assert parse(type="branch", message=7) == frames.Branch(7)


@pytest.mark.parametrize("edits", [0, -1, True, "7", 2**63, 1.5])
def test_what_is_no_id_of_a_message_is_refused(edits: object) -> None:
    assert code(type="send", client_key="k", text="x", edits=edits) == "bad_number"
    assert code(type="branch", message=edits) == "bad_number"


def test_an_answer_to_a_tool_names_turn_call_and_choice() -> None:
    said = parse(type="answer", turn=str(TURN), call="c", choice="allow")
    assert said == frames.Answer(TURN, "c", "allow")
    assert code(type="answer", turn=str(TURN), call="c") == "bad_answer"
    assert code(type="answer", turn="x", call="c", choice="allow") == "bad_turn"

from __future__ import annotations

import json
import math
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from crewsite.chat.constants import FRAME_MAX_BYTES
from crewsite.chat.payloads import delta_frames, frame, frame_text
from crewsite.chat.storable import storable_text, storable_value
from crewsite.security.text import clean


def stream(*pieces: str) -> str:
    """What a stream of these pieces comes to."""
    held, whole = "", ""
    for piece in pieces:
        text, held = storable_text(held, piece)
        whole += text
    return whole


def test_an_emoji_and_a_line_end_cut_in_two_are_joined() -> None:
    assert stream("hi \ud83d", "\ude00 a\r", "\nb") == "hi 😀 a\nb"


def test_half_an_emoji_and_control_characters_are_left_out() -> None:
    assert stream("a\ud83d", "b\ude00c\x00\x1b") == "abc "


@given(st.lists(st.text(alphabet=st.characters(codec=None), max_size=5), max_size=8))
def test_any_stream_can_be_sent_and_comes_to_what_is_stored(pieces: list[str]) -> None:
    text = stream(*pieces, "end")
    assert text.encode().decode() == clean(text) == text


def test_numbers_that_are_no_json_become_null() -> None:
    odd = {"a\x00": [math.nan, 1.5, {"b": (math.inf, "c\ud800")}]}
    assert storable_value(odd) == {"a": [None, 1.5, {"b": [None, "c"]}]}
    json.dumps(storable_value(odd), allow_nan=False)


def test_a_message_too_long_for_a_frame_goes_without_what_the_page_can_do_without() -> None:
    content = "x" * (FRAME_MAX_BYTES // 2)
    message = {"html": f"<p>{content}</p>", "content": content, "tool_calls": [{"id": 1}]}
    slim = json.loads(frame_text(frame("turn.done", html=message["html"], message=message)))
    assert slim["cut"] == ["html"]
    assert slim["html"] == slim["message"]["html"] == ""
    assert slim["message"]["content"] == content
    longer = frame_text(frame("message", message={**message, "content": "é" * FRAME_MAX_BYTES}))
    assert json.loads(longer)["cut"] == ["html", "tool_calls", "content"]
    assert len(longer) < FRAME_MAX_BYTES


def test_a_frame_that_fits_is_sent_as_it_is() -> None:
    item = frame("notice", text="é", data={})
    assert json.loads(frame_text(item)) == item


def test_a_long_text_is_told_in_pieces_that_follow_each_other() -> None:
    pieces = list(delta_frames(uuid4(), 7, "😀" * 250_000))
    assert [piece["offset"] for piece in pieces] == [7, 100_007, 200_007]
    assert all(len(frame_text(piece).encode()) < FRAME_MAX_BYTES for piece in pieces)
    assert "".join(piece["text"] for piece in pieces) == "😀" * 250_000

"""The words that codes are shown in."""

from __future__ import annotations

import pytest

from crewsite.chat.templatetags.reading import event_words, reason_words


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "injection_blocked: The text reads like instructions (ignore_previous, characters 0 to 32).",
            "The text reads like instructions (ignore previous, characters 0 to 32).",
        ),
        ("possibly_supersedes rejected", "possible replacement rejected"),
        ("superseded_value: project.on_call.since", "superseded value: project.on_call.since"),
        ("same value", "same value"),
    ],
)
def test_a_reason_is_said_without_codes(reason: str, words: str) -> None:
    assert reason_words(reason) == words


def test_events_are_named_in_words() -> None:
    assert [event_words(event) for event in ("deduped", "conflict_skip")] == [
        "already known",
        "conflict skip",
    ]

"""Which value stands when two claim one key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewsite.security.origin import Source
from memory.conflict import Claim, decide, skip_reason

EXPLICIT, AUTOMATED = Source.USER_EXPLICIT, Source.CONSOLIDATION
CONFIDENCE = st.floats(0, 1)
AUTOMATED_SOURCES = st.sampled_from([source for source in Source if source != EXPLICIT])


def test_a_free_key_is_created() -> None:
    assert decide(None, Claim("vim", AUTOMATED, 0.8)) == "create"


@given(CONFIDENCE, CONFIDENCE, st.sampled_from(list(Source)))
def test_a_person_always_wins(old: float, new: float, source: Source) -> None:
    assert decide(Claim("vim", source, old), Claim("emacs", EXPLICIT, new)) == "replace"


@given(CONFIDENCE, CONFIDENCE, AUTOMATED_SOURCES)
def test_nothing_automated_replaces_what_a_person_said(old: float, new: float, source: Source) -> None:
    assert decide(Claim("vim", EXPLICIT, old), Claim("emacs", source, new)) == "skip"


@pytest.mark.parametrize(
    ("old", "new", "decision"),
    [
        (0.8, 0.9, "replace"),
        (0.9, 0.8, "replace"),
        (1.0, 0.9, "replace"),
        (0.95, 0.84, "skip"),
        (1.0, 0.8, "skip"),
    ],
)
def test_between_automated_claims_confidence_decides_and_near_ones_count_as_equal(
    old: float, new: float, decision: str
) -> None:
    assert decide(Claim("vim", AUTOMATED, old), Claim("emacs", AUTOMATED, new)) == decision


def test_the_same_value_is_unchanged_and_a_person_or_more_confidence_confirms_it() -> None:
    old = Claim("vim", AUTOMATED, 0.9)
    assert decide(old, Claim("VIM", AUTOMATED, 0.9)) == "unchanged"
    assert decide(old, Claim("vim", AUTOMATED, 0.95)) == "confirm"
    assert decide(old, Claim("vim", EXPLICIT, 0.5)) == "confirm"
    assert decide(Claim("vim", EXPLICIT, 0.5), Claim("vim", AUTOMATED, 1.0)) == "unchanged"


def test_a_skip_says_which_rule_held() -> None:
    assert "person" in skip_reason(Claim("vim", EXPLICIT, 0.5), Claim("emacs", AUTOMATED, 1.0))
    assert "0.95" in skip_reason(Claim("vim", AUTOMATED, 0.95), Claim("emacs", AUTOMATED, 0.8))

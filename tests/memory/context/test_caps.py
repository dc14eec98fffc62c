from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.caps import resolve_caps

REFERENCE = {
    "thread_compressed": 44_550,
    "lessons": 37_290,
    "thread": 34_650,
    "history": 26_400,
    "skills": 24_750,
    "steering": 16_500,
    "semantic": 12_705,
    "episodic": 12_705,
    "projects": 6_435,
    "preferences": 4_290,
    "preamble": 4_950,
}


@pytest.mark.parametrize("window", [None, 1_000_000])
def test_the_reference_window_has_the_documented_caps(window: int | None) -> None:
    caps = resolve_caps(window)
    assert asdict(caps.sections) == REFERENCE
    assert (caps.base, caps.per_message) == (165_000, 8_000)


def test_the_ceiling_is_the_base_and_with_lazy_skills_the_sum_of_sections() -> None:
    caps = resolve_caps(None)
    assert caps.ceiling() == 165_000
    assert caps.ceiling(lazy_skills=True) == 190_575


def test_half_a_window_halves_every_cap_but_the_preamble() -> None:
    caps = resolve_caps(500_000)
    assert caps.base == 82_500
    assert caps.sections.lessons == 18_645
    assert caps.per_message == 4_000
    assert caps.sections.preamble == 4_950


@pytest.mark.parametrize("window", [200_000, 128_000, 32_000, 1])
def test_windows_up_to_200k_share_the_floor(window: int) -> None:
    caps = resolve_caps(window)
    assert caps.base == 33_000
    assert caps.sections.semantic == int(33_000 * 0.077)
    assert caps == resolve_caps(200_000)


@given(st.integers(1, 4_000_000), st.integers(1, 4_000_000))
def test_a_larger_window_never_has_a_smaller_cap(one: int, other: int) -> None:
    small, large = resolve_caps(min(one, other)), resolve_caps(max(one, other))
    assert all(asdict(small.sections)[name] <= value for name, value in asdict(large.sections).items())
    assert small.base <= large.base

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crewsite.embeddings.windows import mean_direction, normalised, windows


@given(length=st.integers(0, 5000), size=st.integers(1, 300))
def test_windows_cover_every_token_once_when_there_is_room(length: int, size: int) -> None:
    parts = windows(length, size=size, limit=10_000)
    assert [token for start, end in parts for token in range(start, end)] == list(range(length))
    assert all(end - start <= size for start, end in parts)


@given(length=st.integers(1, 100_000), size=st.integers(1, 300), limit=st.integers(2, 40))
def test_windows_never_outnumber_the_limit_and_reach_both_ends(length: int, size: int, limit: int) -> None:
    parts = windows(length, size=size, limit=limit)
    assert 1 <= len(parts) <= limit
    assert parts[0][0] == 0
    assert parts[-1][1] == length
    assert len(set(parts)) == len(parts)


def test_a_short_tail_weighs_less_than_a_full_window() -> None:
    east, north = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)
    mean = mean_direction([(east, 254), (north, 3)])
    assert mean @ east > 0.99


def test_a_vector_without_direction_is_none() -> None:
    assert normalised(np.zeros(3, dtype=np.float32)) is None
    assert normalised(np.array([1, np.nan], dtype=np.float32)) is None
    assert normalised(np.array([1, np.inf], dtype=np.float32)) is None
    assert normalised(np.array([3, 4], dtype=np.float32)).tolist() == [np.float32(0.6), np.float32(0.8)]

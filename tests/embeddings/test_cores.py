from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from crewsite.embeddings import cores
from crewsite.embeddings.cores import busy_cores, core_count, threads_for

if TYPE_CHECKING:
    import pytest


@given(tokens=st.integers(1, 512), count=st.integers(1, 128), busy=st.none() | st.integers(0, 300))
def test_threads_never_outnumber_idle_cores_and_are_at_least_one(
    tokens: int, count: int, busy: int | None
) -> None:
    threads = threads_for(tokens, cores=count, busy=busy)
    assert 1 <= threads <= max(1, count - (busy or 0))


def test_a_short_text_gets_two_threads_at_most_and_a_long_one_all_idle_cores() -> None:
    assert threads_for(12, cores=16, busy=0) == 2
    assert threads_for(250, cores=16, busy=3) == 13
    assert threads_for(12, cores=2, busy=1) == 1


def test_without_a_known_load_a_short_text_gets_one_thread_and_a_long_one_all() -> None:
    assert threads_for(12, cores=8, busy=None) == 1
    assert threads_for(250, cores=8, busy=None) == 8


def test_the_load_leaves_the_caller_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "loadavg"
    file.write_text("2.94 2.71 1.67 3/98 15199\n")
    monkeypatch.setattr(cores, "LOAD_FILE", file)
    assert busy_cores() == 2
    file.write_text("nonsense")
    assert busy_cores() is None
    monkeypatch.setattr(cores, "LOAD_FILE", tmp_path / "absent")
    assert busy_cores() is None


def test_cores_are_those_this_process_may_use() -> None:
    assert 1 <= core_count() <= (os.cpu_count() or 1)

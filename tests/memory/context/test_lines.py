from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.context.constants import LEFT_OUT_NAMED
from memory.context.lines import Line, fit_lines, name_left_out
from memory.context.packet import SourceRef


def line(number: int, chars: int) -> Line:
    return Line("x" * chars, SourceRef("semantic", number, f"sem:{number}"))


def test_a_huge_line_hides_no_small_ones_behind_it() -> None:
    fitted = fit_lines([line(1, 10), line(2, 500), line(3, 10)], room=30)
    assert [kept.source.object_id for kept in fitted.kept] == [1, 3]
    assert [left.source.object_id for left in fitted.left_out] == [2]


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(0, 400))
def test_lines_with_their_breaks_fit_and_none_is_lost(sizes: list[int], room: int) -> None:
    lines = [line(number, size) for number, size in enumerate(sizes)]
    fitted = fit_lines(lines, room=room)
    assert sum(len(kept.text) + 1 for kept in fitted.kept) <= room
    if len(fitted.left_out) == LEFT_OUT_NAMED:
        return  # the rest is not read
    assert sorted([*fitted.kept, *fitted.left_out], key=lambda item: item.source.object_id) == lines


def test_left_out_rows_are_named_and_a_long_list_is_counted() -> None:
    refs = [SourceRef("lesson", number, f"les:{number}") for number in range(30)]
    assert name_left_out(refs[:1], 1, word="lessons", total=51) == "1 of 51 lessons left out: les:0"
    assert name_left_out(refs, 30, word="lessons", total=80).endswith("les:19 and 10 more")
    assert name_left_out([], 0, word="lessons", total=3) == ""

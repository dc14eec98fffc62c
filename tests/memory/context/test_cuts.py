from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.context.cuts import cut_at_line, cut_at_paragraph, cut_words

TEXTS = st.text(alphabet=st.sampled_from("ab \n"), max_size=400)
CAPS = st.integers(0, 300)


@given(TEXTS, CAPS)
def test_no_cut_is_longer_than_its_cap(text: str, cap: int) -> None:
    for cut in (cut_at_line, cut_at_paragraph, cut_words):
        assert len(cut(text, cap)) <= max(cap, 0)


@given(TEXTS, CAPS)
def test_a_text_that_fits_is_not_touched(text: str, cap: int) -> None:
    for cut in (cut_at_line, cut_at_paragraph, cut_words):
        if len(text) <= cap:
            assert cut(text, cap) == text


def test_a_cut_at_a_line_keeps_whole_lines_and_says_so() -> None:
    text = "\n".join(f"line {number} of the document" for number in range(40))
    cut = cut_at_line(text, 300)
    *lines, mark = cut.split("\n")
    assert all(line in text.split("\n") for line in lines)
    assert mark == f"[... cut here: {len(chr(10).join(lines))} of {len(text)} characters shown ...]"


def test_a_cut_at_a_paragraph_keeps_whole_paragraphs() -> None:
    paragraphs = ["first paragraph\nwith two lines", "second paragraph " * 8, "third"]
    cut = cut_at_paragraph("\n\n".join(paragraphs), 120)
    assert cut.startswith(paragraphs[0])
    assert "second" not in cut
    assert "cut here" in cut


def test_one_paragraph_too_long_is_cut_at_a_line() -> None:
    cut = cut_at_paragraph("\n".join("a line" for _ in range(60)), 200)
    assert cut.startswith("a line\na line")
    assert "cut here" in cut


def test_words_are_cut_between_words() -> None:
    assert cut_words("one two three four", 12) == "one two…"
    assert cut_words("x" * 20, 5) == "xxxx…"


def test_a_heading_is_not_all_that_is_left_of_one_long_line() -> None:
    for cut in (cut_at_line, cut_at_paragraph):
        for heading in ("[Steering]\n", "[Steering]\n\n", "# Title\n\nshort\n\n"):
            shown = cut(heading + "word " * 400, 500)
            assert len(shown) <= 500
            assert shown.count("word") > 60
            assert "cut here" in shown

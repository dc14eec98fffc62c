"""Cleaning and folding: what may be stored, and what counts as the same text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewsite.security.text import clean, fold, folded_hash, number_of

ANY_TEXT = st.text(st.characters(codec=None), max_size=200)


@pytest.mark.parametrize(
    ("dirty", "kept"),
    [
        ("a\x00b", "ab"),
        ("a\ud800b", "ab"),
        ("a\x1b[31mb", "a [31mb"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("a\x85b", "a b"),
        ("שלום 👨‍👩‍👧", "שלום 👨‍👩‍👧"),
    ],
)
def test_cleaning_removes_only_what_no_store_can_hold(dirty: str, kept: str) -> None:
    assert clean(dirty) == kept


@given(ANY_TEXT)
def test_cleaned_text_encodes_and_stays_clean(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert "\x00" not in cleaned
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always  use\n pytest ", "always use pytest"),
        ("Ｐｙｔｅｓｔ", "pytest"),
        ("STRASSE", "straße"),
        ("cafe\u0301", "CAFÉ"),
        ("ﬁne", "FINE"),
    ],
)
def test_spellings_of_one_text_fold_to_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert folded_hash(one) == folded_hash(other)


def test_different_texts_keep_different_hashes() -> None:
    assert folded_hash("use tabs") != folded_hash("use taps")


@given(ANY_TEXT)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert len(folded_hash(text)) == 32


def test_one_of_something_is_not_told_as_several() -> None:
    told = [number_of(count, "text") for count in (0, 1, 1_204)]
    assert told == ["0 texts", "1 text", "1,204 texts"]
    assert number_of(2, "entry", "entries") == "2 entries"

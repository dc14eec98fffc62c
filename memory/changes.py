"""Does a text that sounds like an older one say something else? Numbers, dates, names and negations decide,
then the wording. Pure.

The duplicate gate asks this before it drops a text: a newer fact in nearly the same words must not be lost.
In doubt the answer is yes; the price is a second row and an entry in the review queue.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, Literal, Protocol

from crewsite.search.words import STOP_WORDS
from crewsite.security.text import fold
from memory.vocabulary import DATE_WORDS, NEGATIONS, NUMBER_WORDS, OPPOSITES
from memory.wording import WORD, difference
from memory.words import DEFAULT_LANGUAGE, detect_language

Disagreement = Literal["number", "date", "negation", "name", "detail", "sense", "state"]


class OfModel(Protocol):
    """Limits that hold for one embedding model."""

    @property
    def latin_only(self) -> bool: ...


# A minus belongs to a number where no word goes before it: -5, but not that of 2-3 or COVID-19.
_NUMBER: Final = re.compile(r"(?:(?<![\w)])[-\u2212])?\d+(?:[.,:/-]\d+)*")
_NUMBER_SIGN: Final = re.compile(r"[$€£¥<>≤≥]")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_NEGATED_END: Final = re.compile(r"n['’]t$")
_CJK_NEGATION: Final = re.compile(r"[不没沒無无未非]|ない|ません|않|없|못")


def disagreement(new: str, old: str) -> Disagreement | None:
    """In what the new text differs from the old one, or None when it only says it in other words."""
    new_words, old_words = _words(new), _words(old)
    new_folded = [fold(word) for word in new_words]
    old_folded = [fold(word) for word in old_words]
    if _numbers(new, new_folded) - _numbers(old, old_folded):
        return "number"
    if set(new_folded) & DATE_WORDS - set(old_folded):
        return "date"
    if _is_negated(new, new_folded) != _is_negated(old, old_folded) or _is_opposite(
        set(new_folded), set(old_folded)
    ):
        return "negation"
    if _names(new_words) - set(old_folded) or _names(old_words) - set(new_folded):
        return "name"
    return difference(new, old, detect_language(f"{new}\n{old}"))


def is_placed(text: str, limits: OfModel) -> bool:
    """Whether a model's cosines say anything about a text: one trained on English places others anywhere."""
    return not limits.latin_only or is_mostly_latin(text)


def is_mostly_latin(text: str) -> bool:
    """Whether at least half of a text's letters are of the Latin script; none are of none."""
    letters = len(_LETTER.findall(text))
    return bool(letters) and len(_LATIN.findall(text)) * 2 >= letters


def _words(text: str) -> list[str]:
    return WORD.findall(text)


def _numbers(text: str, folded: list[str]) -> Counter[str]:
    """Numbers, and what stands beside them and changes their sense: a currency, a bound."""
    figures = [number.replace(",", ".").replace("\u2212", "-") for number in _NUMBER.findall(text)]
    return Counter(
        [*figures, *_NUMBER_SIGN.findall(text), *(word for word in folded if word in NUMBER_WORDS)]
    )


def _is_negated(text: str, folded: list[str]) -> bool:
    return bool(
        any(word in NEGATIONS or _NEGATED_END.search(word) for word in folded) or _CJK_NEGATION.search(text)
    )


def _is_opposite(new: set[str], old: set[str]) -> bool:
    return any(
        (one in new and one not in old and other in old and other not in new)
        or (other in new and other not in old and one in old and one not in new)
        for one, other in OPPOSITES
    )


def _names(words: list[str]) -> set[str]:
    """Folded words that look like names anywhere but at the start:
    capitals, or letters mixed with digits or signs.
    """
    return {fold(word) for word in words[1:] if _looks_like_a_name(word)} | {
        fold(word) for word in words[:1] if any(char.isupper() for char in word[1:]) or _has_digit(word)
    }


def _looks_like_a_name(word: str) -> bool:
    if fold(word) in STOP_WORDS[DEFAULT_LANGUAGE] and not (len(word) > 1 and word.isupper()):
        return False
    return any(char.isupper() for char in word) or _has_digit(word)


def _has_digit(word: str) -> bool:
    return any(char.isdigit() for char in word)

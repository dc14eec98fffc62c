"""Does a text that sounds like an older one say something else? Numbers, dates, names and negations decide.
Pure.

The duplicate gate asks this before it drops a text: a newer fact in nearly the same words must not be lost.
In doubt
the answer is yes; the price is a second row and an entry in the review queue.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final, Literal, Protocol

from crewsite.search.words import STOP_WORDS
from crewsite.security.text import fold
from memory.vocabulary import DATE_WORDS, NEGATIONS, NUMBER_WORDS, OPPOSITES, ORDERING_WORDS
from memory.words import DEFAULT_LANGUAGE, stem

Disagreement = Literal["number", "date", "negation", "name", "state"]


class OfModel(Protocol):
    """Limits that hold for one embedding model."""

    @property
    def latin_only(self) -> bool: ...


# A minus belongs to a number where no word goes before it: -5, but not that of 2-3 or COVID-19.
_NUMBER: Final = re.compile(r"(?:(?<![\w)])[-\u2212])?\d+(?:[.,:/-]\d+)*")
_NUMBER_SIGN: Final = re.compile(r"[$€£¥<>≤≥]")
_WORD: Final = re.compile(r"[^\W_][\w'’.-]*[^\W_]|[^\W_]")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_SMALL_WORDS: Final = frozenset(
    stem(word, DEFAULT_LANGUAGE) for word in STOP_WORDS[DEFAULT_LANGUAGE] | NEGATIONS
)

_NEGATED_END: Final = re.compile(r"n['’]t$")
_CJK_NEGATION: Final = re.compile(r"[不没沒無无未非]|ない|ません|않|없|못")


def disagreement(new: str, old: str) -> Disagreement | None:
    """What the new text says that the old one does not, or None when it only says it in other words."""
    new_words, old_words = _words(new), _words(old)
    new_folded = [fold(word) for word in new_words]
    old_folded = {fold(word) for word in old_words}
    if _numbers(new, new_folded) - _numbers(old, list(old_folded)):
        return "number"
    if (set(new_folded) & DATE_WORDS) - old_folded:
        return "date"
    if _is_negated(new, new_folded) != _is_negated(old, list(old_folded)) or _is_opposite(
        set(new_folded), old_folded
    ):
        return "negation"
    named = _names(new_words) - old_folded or _subject_differs(new_words, old_words)
    if named or _thing_differs(new_words, old_words) or _order_differs(new_words, old_words):
        return "name"
    return None


def is_placed(text: str, limits: OfModel) -> bool:
    """Whether a model's cosines say anything about a text: one trained on English places others anywhere."""
    return not limits.latin_only or is_mostly_latin(text)


def is_mostly_latin(text: str) -> bool:
    """Whether at least half of a text's letters are of the Latin script; none are of none."""
    letters = len(_LETTER.findall(text))
    return bool(letters) and len(_LATIN.findall(text)) * 2 >= letters


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _numbers(text: str, folded: list[str]) -> set[str]:
    """Numbers, and what stands beside them and changes their sense: a currency, a bound."""
    figures = {number.replace(",", ".").replace("\u2212", "-") for number in _NUMBER.findall(text)}
    return figures | set(_NUMBER_SIGN.findall(text)) | (set(folded) & NUMBER_WORDS)


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


def _subject_differs(new: list[str], old: list[str]) -> bool:
    """A sentence starts with a capital whatever it is,
    so its first word counts as a name only when all else is equal.
    """
    if not new or not old or [fold(word) for word in new[1:]] != [fold(word) for word in old[1:]]:
        return False
    first, other = fold(new[0]), fold(old[0])
    if first in STOP_WORDS[DEFAULT_LANGUAGE] and other in STOP_WORDS[DEFAULT_LANGUAGE]:
        return False
    return stem(first, DEFAULT_LANGUAGE) != stem(other, DEFAULT_LANGUAGE)


def _thing_differs(new: list[str], old: list[str]) -> bool:
    """Content words stand in the very place of others ("rye flour", "wheat flour"); nothing else has moved.

    Where words moved, or came without others going, it is another wording, which the cosine judges better.
    """
    new_stems, old_stems = _stem_all(new), _stem_all(old)
    in_new, in_old = set(new_stems), set(old_stems)
    swapped = False
    for kind, a, b, c, d in SequenceMatcher(None, old_stems, new_stems, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        gone, come = _content(old_stems[a:b]), _content(new_stems[c:d])
        if gone & in_new or come & in_old or bool(gone) != bool(come):
            return False
        swapped = swapped or bool(gone)
    return swapped


def _order_differs(new: list[str], old: list[str]) -> bool:
    """The same words on other sides of a word that tells its sides apart ("tea over coffee"), or names in
    each other's places ("Ann owes Bob").
    """
    new_folded, old_folded = [fold(word) for word in new], [fold(word) for word in old]
    if new_folded == old_folded or sorted(new_folded) != sorted(old_folded):
        return False
    moved = [pair for pair in zip(new, old, strict=True) if fold(pair[0]) != fold(pair[1])]
    are_names = all(_looks_like_a_name(word) for pair in moved for word in pair)
    return are_names or bool(ORDERING_WORDS & set(new_folded))


def _stem_all(words: list[str]) -> list[str]:
    return [stem(fold(word), DEFAULT_LANGUAGE) for word in words]


def _content(stemmed: list[str]) -> set[str]:
    return {word for word in stemmed if word not in _SMALL_WORDS and not _NEGATED_END.search(word)}

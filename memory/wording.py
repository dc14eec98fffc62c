"""Whether two texts that sound alike say the same: their words that carry meaning, what stands between them,
and what took whose place. Pure; numbers, dates and names are `changes`' matter.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, Literal

from crewsite.search.words import STOP_WORDS
from crewsite.security.text import fold
from memory.vocabulary import (
    BEING,
    LISTING_WORDS,
    MUST_WORDS,
    NEGATIONS,
    NEUTRAL,
    NUMBER_WORDS,
    OBLIGED,
    PAST_ENDS,
    SENSE_OF,
    TENSES,
    WILL_WORDS,
)
from memory.words import stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Difference = Literal["name", "detail", "sense"]

WORD: Final = re.compile(r"[^\W_][\w'’.-]*[^\W_]|[^\W_]")
_NEGATED_END: Final = re.compile(r"n't$")
_SHORTENED: Final = re.compile(r"'(?:s|re|m|ve|ll|d)$|^(?:l|d|n|j|qu|s|c|m|t)'")
_WHOLE: Final = {"ca": "can", "wo": "will", "sha": "shall"}
_NOT: Final = "<not>"
_MUST: Final = "<must>"
_WILL: Final = "<will>"
_PAST: Final = "<past>"
_AUXILIARIES: Final = frozenset().union(*(now | then for now, then in TENSES), BEING)


@dataclass(frozen=True, slots=True)
class Word:
    """`stem` is a sign in angles where several words say the same: every and each. A small word carries
    nothing but its place."""

    stem: str
    surface: str
    is_small: bool = False

    @property
    def is_sign(self) -> bool:
        return self.stem.startswith("<")


def read(text: str, language: str) -> list[Word]:
    """The words of a text without those that say nothing."""
    small = STOP_WORDS[language]
    return [_word(word, language, small) for word in _spelled(text) if word not in NEUTRAL[language]]


def _folded_words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(fold(text)))


def difference(new: str, old: str, language: str) -> Difference | None:
    """What one text says that the other does not; None where the one is only another wording.

    In place, any other word counts. Where a sentence is built anew, words may come for others, but none may
    come or go alone, and none may take another's place.
    """
    said, known = read(new, language), read(old, language)
    if _signs(said) != _signs(known) or _is_of_other_time(new, old):
        return "sense"
    come, gone = _only_in(said, known), _only_in(known, said)
    # With other small words around them ("is owed by") two may change places and mean the same.
    swapped = _swapped(said, known)
    in_one_frame = _frame(new, language) == _frame(old, language)
    if not in_one_frame:
        swapped = {word for word in swapped if word in NUMBER_WORDS or any(map(str.isdigit, word))}
    if come or gone:
        if not come or not gone:
            return "detail"
        return "name" if swapped or not _is_built_anew(said, known) else None
    if _stems(said) != _stems(known):
        led_elsewhere = in_one_frame and _leads_elsewhere(said, known)
        # One word alone has not moved: those beside it have, together.
        return "name" if len(swapped) > 1 or led_elsewhere or _heads(said) != _heads(known) else None
    return "sense" if _small_words_differ(said, known) or _ends_differ(said, known, language) else None


def _spelled(text: str) -> Iterator[str]:
    """Folded words, shortened forms in full, and phrases that are one word by what they say as its sign."""
    words: list[str] = []
    for raw in WORD.findall(text):
        word = fold(raw).replace("’", "'")
        if _NEGATED_END.search(word):
            base = word[:-3]
            words += [_WHOLE.get(base, base), "not"]
        elif word == "cannot":
            words += ["can", "not"]
        else:
            words += [_SHORTENED.sub("", word)] + (["will"] if word.endswith("'ll") else [])
    skipped = False
    for place, word in enumerate(words):
        after = words[place + 1] if place + 1 < len(words) else ""
        before = words[place - 1] if place else ""
        if skipped:
            skipped = False
        elif after == "to" and word in OBLIGED:
            yield _MUST
            skipped = True
        elif after == "to" and word == "used" and before not in BEING:
            yield _PAST
            skipped = True
        elif word == "no" and after == "longer":
            yield _NOT
            skipped = True
        elif word != "anymore" and word:
            yield word


def _word(word: str, language: str, small: frozenset[str]) -> Word:
    if word.startswith("<"):
        return Word(word, word)
    if word in NEGATIONS:
        return Word(_NOT, word)
    if word in SENSE_OF:
        return Word(f"<{SENSE_OF[word]}>", word)
    if word in MUST_WORDS:
        return Word(_MUST, word)
    if word in WILL_WORDS:
        return Word(_WILL, word)
    return Word(stem(word, language), word, is_small=word in small)


def _signs(words: Sequence[Word]) -> Counter[str]:
    """Those a rewording keeps, whatever it does."""
    return Counter(word.stem for word in words if word.is_sign and word.stem not in {_MUST, _WILL})


def _is_of_other_time(new: str, old: str) -> bool:
    said, known = _folded_words(new), _folded_words(old)
    return any(
        (said & now and not said & then and known & then and not known & now)
        or (said & then and not said & now and known & now and not known & then)
        for now, then in TENSES
    )


def _stems(words: Sequence[Word]) -> list[str]:
    return [word.stem for word in words if not word.is_small]


def _only_in(words: Sequence[Word], others: Sequence[Word]) -> Counter[str]:
    return Counter(_stems(words)) - Counter(_stems(others))


def _small_words_differ(said: Sequence[Word], known: Sequence[Word]) -> bool:
    """One small word in the place of another (he, she), or moved (only I, I only). One more or less is no
    difference.
    """
    new, old = [word.stem for word in said], [word.stem for word in known]
    gone, come = set[str](), set[str]()
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "replace":
            return True
        if kind != "equal":
            gone.update(old[a:b])
            come.update(new[c:d])
    return bool(gone & come)


def _ends_differ(said: Sequence[Word], known: Sequence[Word], language: str) -> bool:
    """Whether a verb stands in the past on one side only."""
    ends = re.compile(f"(?:{PAST_ENDS[language]})$")
    first, second = (
        Counter(word.stem for word in words if ends.search(word.surface)) for words in (said, known)
    )
    return first != second


def _is_built_anew(said: Sequence[Word], known: Sequence[Word]) -> bool:
    """Whether words moved, and not only came in the place of others."""
    new, old = _stems(said), _stems(known)
    in_new, in_old = set(new), set(old)
    return any(
        kind != "equal" and (in_new.intersection(old[a:b]) or in_old.intersection(new[c:d]))
        for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    )


def _frame(text: str, language: str) -> Counter[str]:
    """The small words a sentence is built with, forms of being among them."""
    return Counter(
        word
        for word in _spelled(text)
        if word in _AUXILIARIES or (word in STOP_WORDS[language] and word not in NEUTRAL[language])
    )


def _swapped(said: Sequence[Word], known: Sequence[Word]) -> set[str]:
    """Words that stand where others stood that stand elsewhere now: "Ann owes Bob", "Bob owes Ann"."""
    both = set(_stems(said)) & set(_stems(known))
    new, old = list(_joints(said)), list(_joints(known))
    swapped = {
        word
        for left, link, right in old
        if link and (right, link, left) in new and not LISTING_WORDS.intersection(link)
        for word in (left, right)
    }
    come, gone = set[str](), set[str]()
    places, were = _places(new), _places(old)
    for place in places.keys() & were.keys():
        come |= (places[place] - were[place]) & both
        gone |= (were[place] - places[place]) & both
    return swapped | (come & gone)


def _joints(words: Sequence[Word]) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Each two words that follow each other, with the small ones between them."""
    left, link = "", list[str]()
    for word in words:
        if word.is_small:
            link.append(word.stem)
            continue
        if left:
            yield left, tuple(link), word.stem
        left, link = word.stem, []


def _places(joints: Sequence[tuple[str, tuple[str, ...], str]]) -> dict[tuple[object, ...], set[str]]:
    """What stands behind a word and a link, and what before a link and a word."""
    found: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for left, link, right in joints:
        found[left, link, ...].add(right)
        found[..., link, right].add(left)
    return found


def _heads(words: Sequence[Word]) -> Counter[tuple[str, ...]]:
    """What each negation and amount is about: the word behind it, and one more where that stands twice."""
    often = Counter(_stems(words))
    return Counter(
        (word.stem, *behind[: min(2, often[behind[0]])])
        for place, word in enumerate(words)
        if word.is_sign and (behind := _stems(words[place + 1 :])[:2])
    )


def _leads_elsewhere(said: Sequence[Word], known: Sequence[Word]) -> bool:
    """Whether a small word stands before something else now: "than the cat", "if the build fails"."""
    new, old = _led(said), _led(known)
    return any(new[word].isdisjoint(old[word]) for word in new.keys() & old.keys())


def _led(words: Sequence[Word]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for place, word in enumerate(words):
        behind = _stems(words[place + 1 :])[:1]
        if behind and word.is_small and word.stem not in LISTING_WORDS:
            found[word.stem].update(behind)
    return found

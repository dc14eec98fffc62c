"""How two rules are phrased against each other: one inside the other, one only adding a condition, one value
chosen in place of another. Pure; what follows from it is `dedup`'s matter.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from crewsite.search.words import STOP_WORDS
from crewsite.security.text import fold
from lessons.vocabulary import (
    AGAINST,
    ARTICLES,
    CHOICE_WORDS,
    CLAUSE_ENDS,
    CONDITION_WORDS,
    HAN_OR_KANA,
    HIRAGANA,
    JOINING_WORDS,
    KANA,
    KOREAN_PARTICLE,
    LEAD_INS,
    NEGATORS,
    NEGATORS_BEHIND,
    PUNCTUATION,
    RULE_WORDS,
    UNIVERSAL_WORDS,
    UNSPACED_CHOICE_BEFORE,
    UNSPACED_CHOICE_BEHIND,
    UNSPACED_CONDITION,
    UNSPACED_RULE_WORDS,
)
from memory.changes import disagreement
from memory.words import detect_language, stem, tokens

_FIRST_UNSPACED: Final = "\u2e80"  # CJK radicals begin here; kana, ideographs and Hangul follow


@lru_cache(maxsize=16_384)
def keywords(text: str) -> frozenset[str]:
    """Folded, stemmed words without those of the language and those of giving rules; of scripts without
    blanks the pairs of neighbouring characters.
    """
    spaced, pairs = text, set[str]()
    if HAN_OR_KANA.search(text):
        bare = UNSPACED_RULE_WORDS.sub(" ", fold(text))
        bare = HIRAGANA.sub(" ", bare) if KANA.search(bare) else bare
        for run in HAN_OR_KANA.findall(bare):
            pairs.update(run[start : start + 2] for start in range(max(1, len(run) - 1)))
        spaced = HAN_OR_KANA.sub(" ", text)
    language = detect_language(spaced)
    dropped = STOP_WORDS[language] | RULE_WORDS
    words = (KOREAN_PARTICLE.sub("", word) for word in tokens(spaced) if word not in dropped)
    return frozenset(stem(word, language) for word in words) | pairs


def contains(longer: str, shorter: str) -> bool:
    """Whether one rule says the other word for word, and does not turn it round. Punctuation does not
    count.
    """
    around = _around(longer, shorter)
    if around is None:
        return _contains_unspaced(longer, shorter)
    before, behind = around
    is_negated = NEGATORS.intersection(before) or NEGATORS_BEHIND.intersection(behind[:1])
    return not is_negated and LEAD_INS.issuperset(_after_joining(before))


def turns_round(longer: str, shorter: str) -> bool:
    """Whether one rule says word for word what the other says not to do."""
    around = _around(longer, shorter)
    if around is None:
        return False
    before, behind = around
    turned = (NEGATORS | AGAINST).intersection(_after_joining(before))
    return bool(turned or NEGATORS_BEHIND.intersection(behind[:1]))


def narrows(one: str, other: str) -> bool:
    """Whether one of two rules only adds when or where it holds ("use tabs", "use tabs for makefiles"): then
    both hold, each in its place. A condition on something the other rule names too is only another wording.
    """
    # What two texts share is not found alike from both sides; the shorter one is always put first.
    one, other = sorted((one, other), key=lambda rule: (len(spoken(rule)), rule))
    first, second = spoken(one), spoken(other)
    if not CONDITION_WORDS.intersection(set(first) ^ set(second)):
        return _narrows_unspaced(one, other)
    added: tuple[list[str], list[str]] = ([], [])
    for kind, a, b, c, d in SequenceMatcher(a=first, b=second, autojunk=False).get_opcodes():
        if kind == "delete" and _is_condition(first[a:b], other):
            added[0].extend(first[a:b])
        elif kind == "insert" and _is_condition(second[c:d], one):
            added[1].extend(second[c:d])
    return bool(added[0]) != bool(added[1]) or _narrows_unspaced(one, other)


def holds_elsewhere(one: str, other: str) -> bool:
    """Whether two rules say different things for different cases: "in German emails", "in English emails"."""
    first, second = _plain(one), _plain(other)
    edits = _edits(first, second)
    if any(edit[0] != "replace" for edit in edits):
        return False
    cases = [bool(start and first[start - 1] in CONDITION_WORDS) for _, start, *_ in edits]
    return any(cases) and not all(cases)


def is_same_choice(one: str, other: str) -> bool:
    """Whether two rules differ in one place only, where a value is chosen: "use X for indentation"."""
    if HAN_OR_KANA.search(one) or has_hangul(one):
        return _is_same_choice_unspaced(fold(one), fold(other))
    first, second = _plain(one), _plain(other)
    edits = _edits(first, second)
    if len(edits) != 1 or edits[0][0] != "replace":
        return False
    start = edits[0][1]
    return start > 0 and first[start - 1] in CHOICE_WORDS


def has_hangul(text: str) -> bool:
    return any("\uac00" <= char <= "\ud7a3" for char in text)


def spoken(text: str) -> list[str]:
    """Words as people see them: `c++`, `node.js` and `don't` stay whole, sentence punctuation goes."""
    words = (word.strip(PUNCTUATION) for word in fold(text.replace("’", "'")).split())
    return [word for word in words if word]


def _around(longer: str, shorter: str) -> tuple[list[str], list[str]] | None:
    """The words before a rule inside another, back to the end of a clause, and those behind it."""
    marked, needle = longer.replace("’", "'").split(), spoken(shorter)
    words = [(fold(word).strip(PUNCTUATION), word[-1] in CLAUSE_ENDS) for word in marked]
    words = [pair for pair in words if pair[0]]
    haystack, size = [word for word, _ in words], len(needle)
    for start in range(len(haystack) - size + 1) if needle else ():
        if haystack[start : start + size] == needle:
            ended = [place for place in range(start) if words[place][1]]
            # "Do not, whatever happens, ...": a negation ends no clause, nor does what stands behind it.
            cut = next(
                (place for place in ended if haystack[place] in NEGATORS), ended[-1] + 1 if ended else 0
            )
            return haystack[cut:start], haystack[start + size :]
    return None


def _after_joining(before: list[str]) -> list[str]:
    """What stands behind the last "and"."""
    joined = [place for place, word in enumerate(before) if word in JOINING_WORDS]
    return before[joined[-1] + 1 :] if joined else before


def _plain(text: str) -> list[str]:
    return [word for word in spoken(text) if word not in ARTICLES]


def _edits(one: list[str] | str, other: list[str] | str) -> list[tuple[str, int, int, int, int]]:
    matcher = SequenceMatcher(a=one, b=other, autojunk=False)
    return [edit for edit in matcher.get_opcodes() if edit[0] != "equal"]


def _is_condition(words: list[str], other: str) -> bool:
    if not CONDITION_WORDS.intersection(words) or UNIVERSAL_WORDS.intersection(words):
        return False
    named = keywords(" ".join(words))
    return bool(named) and not named & keywords(other)


def _contains_unspaced(longer: str, shorter: str) -> bool:
    """Scripts without blanks have no words to compare: there a rule is inside another as a run of
    characters.
    """
    inner = fold(shorter)
    if not any(char >= _FIRST_UNSPACED for char in inner) or inner not in fold(longer):
        return False
    return disagreement(shorter, longer) != "negation"


def _narrows_unspaced(one: str, other: str) -> bool:
    shorter, longer = sorted((fold(one), fold(other)), key=len)
    if not any(char >= _FIRST_UNSPACED for char in shorter) or shorter not in longer:
        return False
    before, _, behind = longer.partition(shorter)
    return UNSPACED_CONDITION.search(f"{before} {behind}") is not None


def _is_same_choice_unspaced(one: str, other: str) -> bool:
    """The value stands behind the verb in Chinese, and before its particle in Japanese and Korean."""
    start = next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), -1)
    if start < 0:
        return False
    room = min(len(one), len(other)) - start
    ends = zip(reversed(one), reversed(other), strict=False)
    same = next((n for n, pair in enumerate(ends) if pair[0] != pair[1]), room)
    tail = one[len(one) - min(same, room) :]
    return bool(UNSPACED_CHOICE_BEFORE.search(one[:start]) or UNSPACED_CHOICE_BEHIND.match(tail))

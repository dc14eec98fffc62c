"""Words as search sees them: which scripts write no spaces, which words carry no meaning, what a question
asks for. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from crewsite.search.constants import (
    GRAM_CHARS,
    IDENTIFIER_WEIGHT,
    QUERY_CHARS_MAX,
    QUERY_TERMS_MAX,
    STEM_CHARS_MIN,
)
from crewsite.search.folding import UNSPACED, fold, plain

_UNSPACED_RUN: Final = re.compile(f"[{UNSPACED}]+")
# Anything but blanks, control characters, script runs of above and punctuation that never stands inside a
# word.
_CHUNK: Final = re.compile(
    rf"[^\s\x00-\x1f\x7f-\xa0\ud800-\udfff!\"$%&()*,/:;<=>?@\[\\\]^`{{|}}~¡¿«»“”„…‹›、。，！？：；（）「」『』【】《》{UNSPACED}]+"
)
_EDGES: Final = "-_.'’+#·–—"
_WORD: Final = re.compile(r"\w+")
# What parts words in plain ASCII, where cutting there is twice as fast as looking for them.
_BLANKED: Final = {code: " " for code in range(128) if not _WORD.match(chr(code))}
_DIGIT: Final = re.compile(r"\d")

# The commonest function words of the languages people are likely to write in. A word that is content in
# another language does no harm here: only the list of the question's own language is used, and English in
# doubt.
_FUNCTION_WORDS: Final = {
    "english": (
        "a about am an and any are as at be been but by can could did do does for from had has have "
        "he her him his how i if in into is it its may me my no not of on or our she should so some "
        "than that the their them then there these they this those to us was we were what when where "
        "which who whom whose why will with would you your"
    ),
    "french": (
        "au aux avec ce ces cette dans de des du elle en est et eu il ils je la le les leur lui mais "
        "me mes moi mon ne nous on ou où par pas pour qu que quel quelle qui sa se ses son sont sur "
        "ta te tes tu un une vos votre vous"
    ),
    "german": (
        "als am an auch auf aus bei bin bist da das dass dem den der des die du durch ein eine einem "
        "einen einer er es für hat hatte ich ihr im in ist kann mein mit nach nicht noch oder sich "
        "sie sind so über um und uns von vor war was wenn wer wie wir wird wo zu zum zur"
    ),
    "spanish": (
        "al como con cual cuando de del donde el ella en era es esta este esto fue ha hay la las le "
        "lo los me mi muy no nos o para pero por porque que qué quién se ser si sin son su sus te tu "
        "un una y yo"
    ),
    "portuguese": (
        "ao aos as com como da das de do dos e ela ele em era esta este eu foi há isso me meu minha "
        "na nas no nos não o os ou para pela pelo por qual quando que quem se sem seu sua são um uma "
        "você"
    ),
    "italian": (
        "al alla che chi come con da dal dei del della di dove e è era gli ha ho i il in io la le lo "
        "ma mi mio nel nella non o per perché quale quando questo se si sono su sul tu un una uno"
    ),
    "dutch": (
        "aan als bij dat de der die dit een en er haar heb heeft het hij hoe ik in is je kan maar met "
        "mijn naar niet of om op te uit van voor waar was wat we wel wie wij zijn"
    ),
    "swedish": (
        "att av den det de du en ett för från han har hon i inte jag kan man med mig min när och om "
        "på som till var vad vem vi är"
    ),
    "russian": (
        "а бы был была было в вы где для до его ее если же за и из или к как когда кто мы на не но о "
        "он она они от по с так то ты у что это я"
    ),
}
STOP_WORDS: Final = {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}


@dataclass(frozen=True, slots=True)
class Term:
    """One thing a question asks for, folded. `word` is matched as a stemmed word or phrase, `gram` as a
    substring of the length the trigram table knows, `part` as a shorter substring."""

    text: str
    kind: Literal["word", "gram", "part"]
    weight: float = 1.0


def has_unspaced(text: str) -> bool:
    return not text.isascii() and _UNSPACED_RUN.search(text) is not None


def query_terms(query: str) -> tuple[Term, ...]:
    """What a question asks for, in its order, at most 24 terms. Any text is safe; punctuation alone asks for
    nothing.
    """
    query = plain(query[:QUERY_CHARS_MAX])
    chunks = [chunk.strip(_EDGES).casefold() for chunk in _CHUNK.findall(query)]
    words = list(dict.fromkeys(word for word in chunks if any(map(str.isalnum, word))))
    content = without_stop_words(words)
    runs = _UNSPACED_RUN.findall(fold(query))
    if not runs:
        content = content or words
    folded = [word for word in map(fold, content) if word]
    terms = [Term(word, "word", IDENTIFIER_WEIGHT if _DIGIT.search(word) else 1.0) for word in folded]
    terms += [term for run in runs for term in _run_terms(run)]
    # Names of things first when there are too many; a pasted page asks for nothing in particular anyway.
    unique = list(dict.fromkeys(terms))
    if len(unique) > QUERY_TERMS_MAX:
        unique = sorted(unique, key=lambda term: -term.weight)[:QUERY_TERMS_MAX]
    return tuple(unique)


def without_stop_words(words: list[str]) -> list[str]:
    """Words with their accents, less the function words of their language; empty when nothing else is among
    them."""
    counts = {name: sum(word in known for word in words) for name, known in STOP_WORDS.items()}
    best = max(counts, key=lambda name: (counts[name], name == "english"))
    stop = STOP_WORDS[best]
    return [word for word in words if word not in stop]


def _run_terms(run: str) -> list[Term]:
    if len(run) < GRAM_CHARS:
        return [Term(run, "part")]
    return [Term(run[start : start + GRAM_CHARS], "gram") for start in range(len(run) - GRAM_CHARS + 1)]


def word_set(text: str) -> frozenset[str]:
    """Folded words of a text; a script without spaces gives its pairs of neighbouring characters instead."""
    lowered = fold(text)
    if lowered.isascii():
        return frozenset(lowered.translate(_BLANKED).split())
    found: set[str] = set()
    for run in _UNSPACED_RUN.findall(lowered):
        found.update(run[start : start + 2] for start in range(max(1, len(run) - 1)))
    found.update(_WORD.findall(_UNSPACED_RUN.sub(" ", lowered)))
    return frozenset(found)


def stem_prefix(word: str) -> str:
    """The folded beginning that a word's forms share, for counting it in a text: `dogs` and `dog` give `dog`.

    Only endings the Porter stemmer takes off too, so that what the index found is counted and little else is.
    """
    word = word.casefold()
    if not word.isalpha() or not word.isascii():
        return word
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "ly", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= STEM_CHARS_MIN:
            return word[: -len(ending)]
    return word

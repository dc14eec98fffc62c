"""Words of a text as the keyword side compares them:
language by its function words, folded, stemmed. Pure.
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Any, Final

from crewsite.search.folding import fold as index_fold
from crewsite.search.words import STOP_WORDS
from crewsite.security.text import fold

DEFAULT_LANGUAGE: Final = "english"
_WORD: Final = re.compile(r"\w+")
_CYRILLIC: Final = re.compile(r"[\u0400-\u04ff]")

_local = threading.local()


def tokens(text: str) -> list[str]:
    return _WORD.findall(fold(text).replace("_", " "))


@lru_cache(maxsize=4_096)
def detect_language(text: str) -> str:
    """Name of a snowball stemmer. The language whose function words occur most; English in doubt."""
    words = tokens(text)
    if _CYRILLIC.search(text):
        return "russian"
    counts = {name: sum(word in known for word in words) for name, known in STOP_WORDS.items()}
    best = max(counts, key=lambda name: (counts[name], name == DEFAULT_LANGUAGE))
    return best if counts[best] > counts[DEFAULT_LANGUAGE] else DEFAULT_LANGUAGE


@lru_cache(maxsize=65_536)
def stem(word: str, language: str) -> str:
    return str(_stemmer(language).stemWord(word))


def _stemmer(language: str) -> Any:
    """One stemmer a thread and language: they keep their state in themselves."""
    import snowballstemmer

    known: dict[str, Any] = _local.__dict__
    if language not in known:
        known[language] = snowballstemmer.stemmer(language)
    return known[language]


@lru_cache(maxsize=16_384)
def key_stems(words: str) -> frozenset[str]:
    """English stems of a fact's key, which every question of a home asks for again."""
    return stems(words, language=DEFAULT_LANGUAGE, drop_function_words=False)


# Small: it is the question's words that are asked for again, once for every fact of a pool.
@lru_cache(maxsize=64)
def stems(text: str, *, language: str = "", drop_function_words: bool = True) -> frozenset[str]:
    """Stemmed words of a text; function words are dropped unless nothing else is left."""
    language = language or detect_language(text)
    words = tokens(text)
    content = [word for word in words if word not in STOP_WORDS[language]] if drop_function_words else words
    # As the keyword index has them: `strasse` for `straße`, and `python` alone where it stands in Chinese.
    parts = " ".join(map(index_fold, content or words)).split()
    return frozenset(stem(part, language) for part in parts)


def fact_overlap(query: str, *, key: str, value: str, key_weight: float) -> float:
    """How many of the question's words a fact has,
    each counted `key_weight` times when its key has it; 0 or more.
    """
    language = detect_language(query)
    asked = stems(query, language=language)
    in_key = asked & stems(key, language=language, drop_function_words=False)
    in_value = asked & stems(value, language=language, drop_function_words=False)
    return key_weight * len(in_key) + len(in_value - in_key)


def share_found(query: str, text: str) -> float:
    """The part of the question's words that a text has, 0..1."""
    language = detect_language(query)
    asked = stems(query, language=language)
    if not asked:
        return 0.0
    return len(asked & stems(text, language=language, drop_function_words=False)) / len(asked)

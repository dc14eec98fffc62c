"""What was not right: collected across the searches that one question causes, and said in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

# What a code means for the answers, as the end of "The search was limited: ...".
WORDS: Final[dict[str, str]] = {
    "embedder_unavailable": "no search by meaning",
    "embedder_loading": "search by meaning was still loading",
    "embedding_deadline": "embedding took too long, so words alone decided",
    "index_behind": "the newest rows were found by words only",
    "keyword_index_rebuilt": "the keyword index was being rebuilt",
    "keyword_index_behind": "some older rows were not found by words",
    "keyword_index_broken": "the keyword index is broken, so texts were read one by one",
    "faiss_unavailable": "vectors were compared without FAISS",
    "semantic_failed": "facts could not be searched",
    "episodic_failed": "episodes could not be searched",
    "lesson_failed": "lessons could not be searched",
    "message_failed": "earlier conversations could not be searched",
}
_noted: ContextVar[dict[str, None] | None] = ContextVar("degradation", default=None)


@contextmanager
def collected() -> Iterator[dict[str, None]]:
    """The reasons noted inside the block, in the order they came, each once."""
    reasons: dict[str, None] = {}
    token = _noted.set(reasons)
    try:
        yield reasons
    finally:
        _noted.reset(token)


def note(reasons: Iterable[str]) -> None:
    noted = _noted.get()
    if noted is not None:
        noted.update(dict.fromkeys(reasons))


def in_words(reasons: Iterable[str]) -> str:
    return "; ".join(WORDS.get(code, code.replace("_", " ")) for code in reasons)

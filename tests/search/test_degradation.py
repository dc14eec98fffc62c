"""What is amiss is said in words wherever people meet it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crewsite.dashboard.remedies import REMEDIES
from crewsite.search.degradation import WORDS, in_words
from crewsite.search.kinds import search_kinds

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(
    r'"((?:embedder|embedding|index|keyword_index|faiss|llm|worker|database)_'
    r'(?:unavailable|loading|deadline|behind|rebuilt|broken|failed|absent|not_configured|unreachable))"'
)


def codes_in(*places: str) -> set[str]:
    files = [file for place in places for file in [ROOT / place, *(ROOT / place).rglob("*.py")]]
    return {code for file in files if file.is_file() for code in CODE.findall(file.read_text())}


FAILED = {f"{kind.name}_failed" for kind in search_kinds()}
OF_SEARCHES = codes_in("crewsite/search", "memory/context") | FAILED
OF_THE_SITE = codes_in("crewsite/api/health.py")


@pytest.mark.parametrize("code", sorted(OF_SEARCHES))
def test_every_limit_of_a_search_has_words(code: str) -> None:
    assert in_words([code]) == WORDS[code]


@pytest.mark.parametrize("code", sorted(OF_SEARCHES | OF_THE_SITE))
def test_every_limit_has_a_remedy(code: str) -> None:
    assert REMEDIES[code].effect


def test_limits_are_told_in_one_line() -> None:
    assert in_words(["embedder_unavailable", "lesson_failed"]) == (
        "no search by meaning; lessons could not be searched"
    )

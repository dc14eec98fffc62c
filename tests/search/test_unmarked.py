from __future__ import annotations

import time

import pytest

from crewsite.search.highlight import highlight
from crewsite.search.unmarked import unmarked

ANSWER = """## 1. What runs when

Heron runs **Debian 12** with *PostgreSQL* `16.4`, see [the docs](https://docs.example/?a=b).

| Stage | Time |
| --- | ---: |
| Lint | 1 min |

- Host: heron
- [x] done
"""


def test_an_excerpt_shows_words_without_the_signs_of_markdown() -> None:
    shown = " ".join(unmarked(ANSWER).split())
    assert shown == (
        "1. What runs when Heron runs Debian 12 with PostgreSQL 16.4, see the docs. "
        "Stage | Time Lint | 1 min Host: heron done"
    )


@pytest.mark.parametrize(
    "text",
    [
        "def f(*args, **kwargs): return 2 * 3 ** 4",
        "__init__",
        "*.py and *.js",
        "a*b*c",
        "ls | wc",
        "pref.editor: vi_m",
    ],
)
def test_what_only_looks_like_markdown_stays(text: str) -> None:
    assert unmarked(text) == text


def test_a_word_in_bold_is_marked_in_an_excerpt() -> None:
    assert highlight("It runs **Debian 12** & more", "debian") == "It runs <mark>Debian</mark> 12 &amp; more"


@pytest.mark.parametrize("piece", ["*", "**a", "[", "[a](", "| ", "- ", "-", " ", "~~a", "\t|", ":-", "# "])
def test_a_hostile_megabyte_costs_little(piece: str) -> None:
    started = time.process_time()
    unmarked(piece * (1_000_000 // len(piece)))
    assert time.process_time() - started < 2

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewsite.search.fusion import mmr_jaccard, rrf, scale01, weighted
from crewsite.search.words import word_set

WORDS = st.frozensets(st.sampled_from("abcdefgh"), max_size=5)


def test_scaling_moves_worst_to_zero_and_best_to_one() -> None:
    assert scale01({"a": 2.0, "b": 6.0, "c": 4.0}) == {"a": 0.0, "b": 1.0, "c": 0.5}


def test_equal_scores_are_all_best() -> None:
    assert scale01({"a": 0.3, "b": 0.3}) == {"a": 1.0, "b": 1.0}
    assert scale01({}) == {}


def test_a_hit_of_one_leg_alone_can_win() -> None:
    fused = weighted([(0.6, {"meaning": 1.0, "both": 0.5}), (0.4, {"words": 1.0, "both": 0.5})])
    assert fused == pytest.approx({"meaning": 0.6, "both": 0.5, "words": 0.4})


def test_weights_of_the_legs_that_exist_are_shared_out() -> None:
    assert weighted([(0.4, {"a": 1.0})]) == {"a": 1.0}


def test_reciprocal_ranks_add_up_over_rankings() -> None:
    fused = rrf([["a", "b"], ["b"]])
    assert fused == pytest.approx({"a": 1 / 61, "b": 1 / 62 + 1 / 61})


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Shared words over all words; 0 when both are empty."""
    return len(left & right) / len(left | right) if left | right else 0.0


def test_words_are_folded_and_characters_without_spaces_become_pairs() -> None:
    assert word_set("Dogs, dogs and CATS") == {"dogs", "and", "cats"}
    assert word_set("适者生存 wins") == {"适者", "者生", "生存", "wins"}
    assert word_set("猫") == {"猫"}


def test_of_many_rewordings_and_one_other_the_other_is_picked() -> None:
    same = {f"s{i}": word_set(f"the deploy key is rotated every monday at {i}") for i in range(9)}
    words = {**same, "other": word_set("alice prefers tea over coffee")}
    relevance = {key: 1.0 - index * 0.01 for index, key in enumerate(words)}
    picked = mmr_jaccard(list(words), relevance=relevance, words=words, lam=0.6, limit=5)
    assert "other" in picked
    assert picked[0] == "s0"


def plain_mmr(items: list[int], relevance: list[float], words: list[frozenset[str]], lam: float, limit: int):
    picked, rest = [items[0]], items[1:]
    while rest and len(picked) < limit:
        gain = {
            i: lam * relevance[i] - (1 - lam) * max(jaccard(words[i], words[p]) for p in picked) for i in rest
        }
        best = max(rest, key=lambda i: (gain[i], -i))
        picked.append(best)
        rest.remove(best)
    return picked


@given(st.lists(st.tuples(st.floats(0, 1), WORDS), min_size=1, max_size=12), st.integers(1, 12))
def test_diversity_picks_what_the_definition_picks(
    rows: list[tuple[float, frozenset[str]]], limit: int
) -> None:
    items = list(range(len(rows)))
    relevance, words = [row[0] for row in rows], [row[1] for row in rows]
    picked = mmr_jaccard(
        items,
        relevance=dict(enumerate(relevance)),
        words=dict(enumerate(words)),
        lam=0.6,
        limit=limit,
    )
    assert picked == plain_mmr(items, relevance, words, 0.6, limit)

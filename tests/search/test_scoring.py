"""The order of keyword hits, against its plain definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crewsite.search.keyword.scoring import Posting, idf, rank, term_table
from crewsite.search.words import Term

TOTAL = 1_000


def posting(name: str, ids: set[int]) -> Posting:
    return Posting(Term(name, "word"), np.array(sorted(ids), dtype=np.int64), len(ids))


@given(
    st.lists(st.sets(st.integers(1, 60), min_size=1, max_size=40), min_size=1, max_size=5),
    st.integers(1, 30),
)
def test_the_best_are_those_with_all_terms_then_with_the_heaviest_then_the_newest(
    found: list[set[int]], k: int
) -> None:
    postings = [posting(f"term{number}", ids) for number, ids in enumerate(found)]
    table = term_table(postings, total=TOTAL)
    hits = rank(table, asked=len(postings), k=k)
    weight = {
        pk: sum(idf(one.count, TOTAL) for one in postings if pk in one.ids) for pk in set().union(*found)
    }
    complete = set.intersection(*found)
    assert len(hits) == min(k, len(weight))
    assert {hit.object_id: hit.all_terms for hit in hits} == {
        hit.object_id: hit.object_id in complete for hit in hits
    }
    keys = [(hit.all_terms, round(hit.score, 9), hit.object_id) for hit in hits]
    assert keys == sorted(keys, reverse=True)
    left = [(pk in complete, round(weight[pk], 9), pk) for pk in weight if pk not in {key[2] for key in keys}]
    assert all(key > other for key in keys for other in left)


def test_the_table_tells_of_any_object_which_terms_it_has() -> None:
    table = term_table([posting("tea", {1, 3}), posting("cake", set()), posting("jam", {3})], total=TOTAL)
    held = table.held_by(np.array([3, 2, 1], dtype=np.int64))
    assert held.tolist() == [[True, False, True], [False, False, False], [True, False, False]]
    assert table.weights.tolist() == [idf(2, TOTAL), idf(0, TOTAL), idf(1, TOTAL)]

"""The order of episodes: score, admission, guard, diversity."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.constants import SEED_THRESHOLDS
from memory.ranking import Candidate, decay_rate, is_admitted, log_score, pool_size, rank, relevance

candidates_strategy = st.lists(
    st.builds(
        Candidate,
        object_id=st.integers(1, 10_000),
        text=st.text(max_size=40),
        importance=st.floats(0, 1),
        days_old=st.floats(0, 100_000),
        rate=st.floats(0, 1),
        cosine=st.none() | st.floats(-1, 1),
        keyword=st.none() | st.floats(0, 1),
        all_terms=st.booleans(),
    ),
    max_size=30,
    unique_by=lambda candidate: candidate.object_id,
)


def ids(places: list) -> list[int]:
    return [place.object_id for place in places]


def test_the_score_is_the_formula() -> None:
    candidate = Candidate(1, "", importance=0.5, days_old=10, rate=0.03, cosine=0.8)
    assert math.exp(log_score(candidate)) == pytest.approx(0.8 * (0.7 + 0.3 * 0.5) * math.exp(-0.3))


@given(st.floats(0.01, 1), st.floats(0, 1), st.floats(0, 10_000))
def test_more_of_anything_good_never_lowers_a_score(cosine: float, importance: float, days: float) -> None:
    base = log_score(Candidate(1, "", importance=importance, days_old=days, cosine=cosine))
    assert (
        log_score(Candidate(1, "", importance=min(1, importance + 0.1), days_old=days, cosine=cosine)) >= base
    )
    assert (
        log_score(Candidate(1, "", importance=importance, days_old=days, cosine=min(1, cosine + 0.1))) >= base
    )
    assert log_score(Candidate(1, "", importance=importance, days_old=days + 1, cosine=cosine)) < base


def test_rows_older_than_any_float_are_still_strictly_ordered() -> None:
    old = [Candidate(n, f"text {n}", days_old=400 + n * 10_000, cosine=0.9) for n in range(1, 30)]
    assert ids(rank(old, order="score", limit=29, mmr=False)) == list(range(1, 30))
    assert len({log_score(candidate) for candidate in old}) == 29


def test_a_row_of_the_future_is_as_new_as_now() -> None:
    now = Candidate(1, "", cosine=0.5, days_old=0)
    assert log_score(replace(now, days_old=-50)) == log_score(now)


@given(candidates_strategy, st.integers(1, 12), st.sampled_from(["score", "relevance"]), st.booleans())
def test_an_answer_has_distinct_rows_no_more_than_asked_and_none_too_few(pool, limit, order, mmr) -> None:  # type: ignore[no-untyped-def]
    places = rank(pool, order=order, limit=limit, mmr=mmr)
    assert len(set(ids(places))) == len(places) == min(limit, len(pool))
    assert set(ids(places)) <= {candidate.object_id for candidate in pool}


@given(candidates_strategy, st.integers(1, 12), st.sampled_from(["score", "relevance"]), st.booleans())
def test_the_order_does_not_depend_on_how_candidates_arrive(pool, limit, order, mmr) -> None:  # type: ignore[no-untyped-def]
    assert rank(pool, order=order, limit=limit, mmr=mmr) == rank(
        pool[::-1], order=order, limit=limit, mmr=mmr
    )


@given(candidates_strategy, st.integers(3, 12), st.sampled_from(["score", "relevance"]), st.booleans())
def test_the_first_place_is_the_top_row_and_the_two_most_relevant_are_there(pool, limit, order, mmr) -> None:  # type: ignore[no-untyped-def]
    places = rank(pool, order=order, limit=limit, mmr=mmr)
    if not pool:
        assert places == []
        return
    values = relevance(pool)
    top = max(map(log_score, pool)) if order == "score" else max(values.values())
    first = next(candidate for candidate in pool if candidate.object_id == places[0].object_id)
    assert (log_score(first) if order == "score" else values[first.object_id]) == pytest.approx(top)
    least_kept = sorted(values.values(), reverse=True)[: min(2, limit)]
    kept = sorted((values[pk] for pk in ids(places)), reverse=True)[: min(2, limit)]
    assert kept == pytest.approx(least_kept)


def test_an_exact_old_answer_keeps_a_place_among_recent_ones() -> None:
    recent = [Candidate(n, f"recent talk {n} about {n * 7}", days_old=1, cosine=0.3) for n in range(1, 21)]
    old = Candidate(99, "the exact old answer", days_old=300, cosine=0.95, keyword=1.0, all_terms=True)
    injected = rank([*recent, old], order="score", limit=8)
    assert 99 in ids(injected)
    assert next(place for place in injected if place.object_id == 99).guarded
    assert ids(rank([*recent, old], order="relevance", limit=8))[0] == 99


def test_another_fact_gets_a_place_beside_many_rewordings() -> None:
    same = [
        Candidate(n, f"the build server runs on port eighty word{n}", cosine=0.9 - n / 1000)
        for n in range(1, 10)
    ]
    other = Candidate(50, "Marta owns invoices", cosine=0.7)
    assert 50 in ids(rank([*same, other], order="score", limit=5))
    assert 50 not in ids(rank([*same, other], order="score", limit=5, mmr=False))


def test_relevance_mixes_both_legs_and_one_leg_alone_counts_whole() -> None:
    mixed = relevance([Candidate(1, "", cosine=0.9), Candidate(2, "", cosine=0.1, keyword=1.0)])
    assert mixed == pytest.approx({1: 0.6, 2: 0.4})
    assert relevance([Candidate(1, "", keyword=1.0), Candidate(2, "", keyword=0.2)]) == pytest.approx(
        {1: 1.0, 2: 0.2}
    )
    assert relevance([]) == {}


@pytest.mark.parametrize(
    ("candidate", "admitted"),
    [
        (Candidate(1, "short", cosine=0.55), True),
        (Candidate(1, "short", cosine=0.549), False),
        (Candidate(1, "x" * 301, cosine=0.42), True),
        (Candidate(1, "x" * 300, cosine=0.42), False),
        (Candidate(1, "short", cosine=0.0, keyword=0.2, all_terms=True), True),
        (Candidate(1, "short", cosine=None, keyword=1.0), False),
    ],
)
def test_admission_looks_at_raw_cosine_or_all_terms(candidate: Candidate, *, admitted: bool) -> None:
    def judge(one: Candidate) -> bool:
        return is_admitted(one, limits=SEED_THRESHOLDS, has_vectors=True, overlap=lambda _: 1.0)

    assert judge(candidate) is admitted
    assert judge(replace(candidate, days_old=5_000, importance=0.0)) is admitted


def test_without_vectors_half_of_the_words_admit() -> None:
    row = Candidate(1, "some text", keyword=1.0)
    assert is_admitted(row, limits=SEED_THRESHOLDS, has_vectors=False, overlap=lambda _: 0.5)
    assert not is_admitted(row, limits=SEED_THRESHOLDS, has_vectors=False, overlap=lambda _: 0.49)


def test_the_slowest_tag_sets_the_rate() -> None:
    assert decay_rate(["standup", "incident"], {"standup": 0.1, "incident": 0.01}) == 0.01
    assert decay_rate(["other"], {"standup": 0.1}) == 0.03


@pytest.mark.parametrize(("limit", "size"), [(1, 50), (10, 50), (11, 55), (200, 1000), (5000, 1000)])
def test_each_leg_is_asked_for_enough(limit: int, size: int) -> None:
    assert pool_size(limit) == size

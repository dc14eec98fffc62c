"""The order of episodes: relevance, age, admission, guard, diversity."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.constants import AGE_FLOOR, SEED_THRESHOLDS
from memory.ranking import Pool, Profile, admitted, decay_rate, pool_size, rank, relevance, score

COLUMNS: dict[str, tuple[Any, Any]] = {
    "cosine": (math.nan, np.float64),
    "words": (0.0, np.float64),
    "words_share": (0.0, np.float64),
    "window_cosine": (math.nan, np.float64),
    "window_words": (0.0, np.float64),
    "session": (None, np.int64),
    "named": (False, np.bool_),
    "dated": (False, np.bool_),
    "importance": (0.5, np.float64),
    "days_old": (0.0, np.float64),
    "rate": (0.03, np.float64),
    "text": ("some text", np.object_),
    "supersedes": (0, np.int64),
    "asked_for": (False, np.bool_),
}
profiles = st.sampled_from(Profile)


def pool_of(*rows: dict[str, Any]) -> Pool:
    """Rows as columns; a row is alone in its conversation and has no neighbours unless it says so."""
    filled = [
        {
            "id": number,
            "session": -number,
            **row,
            "window_cosine": row.get("window_cosine", row.get("cosine", math.nan)),
            "window_words": row.get("window_words", row.get("words", 0.0)),
        }
        for number, row in enumerate(rows, start=1)
    ]
    columns = {
        name: np.array([row.get(name, default) for row in filled], dtype=kind)
        for name, (default, kind) in COLUMNS.items()
    }
    return Pool(ids=np.array([row["id"] for row in filled], dtype=np.int64), **columns)


row_strategy = st.fixed_dictionaries(
    {
        "id": st.integers(1, 10_000),
        "text": st.sampled_from(["tea", "tea and cake", "jam", "", "tea jam"]),
        "session": st.integers(1, 4),
        "importance": st.floats(0, 1),
        "days_old": st.floats(-10, 100_000),
        "rate": st.floats(0, 1),
        "cosine": st.just(math.nan) | st.floats(-1, 1),
        "window_cosine": st.just(math.nan) | st.floats(-1, 1),
        "words": st.floats(0, 30),
        "window_words": st.floats(0, 60),
        "named": st.booleans(),
        "dated": st.booleans(),
    }
)
rows_strategy = st.lists(row_strategy, max_size=12, unique_by=lambda row: row["id"])


def ids(places: list[Any]) -> list[int]:
    return [place.object_id for place in places]


def test_the_score_is_the_formula() -> None:
    pool = pool_of({"importance": 0.5, "days_old": 10, "rate": 0.03})
    faded = AGE_FLOOR + (1 - AGE_FLOOR) * math.exp(-0.3)
    assert score(pool, np.array([0.8]))[0] == pytest.approx(0.8 * (0.7 + 0.3 * 0.5) * faded)


@given(st.floats(0.01, 1), st.floats(0, 1), st.floats(0, 1_000))
def test_more_of_anything_good_never_lowers_a_score(worth: float, importance: float, days: float) -> None:
    def value(relevance: float, **row: float) -> float:
        found = score(pool_of({"importance": importance, "days_old": days, **row}), np.array([relevance]))
        return float(found[0])

    assert value(worth, importance=min(1.0, importance + 0.1)) >= value(worth)
    assert value(min(1.0, worth + 0.1)) >= value(worth)
    assert value(worth, days_old=days + 1) <= value(worth)


def test_age_orders_equals_but_never_buries_what_answers() -> None:
    same = pool_of({"cosine": 0.5, "days_old": 3}, {"cosine": 0.5, "days_old": 2}, {"cosine": 0.1})
    assert ids(rank(same, profile=Profile.INJECTION, limit=2, mmr=False)) == [2, 1]
    old = pool_of(*({"cosine": 0.35, "days_old": 1} for _ in range(20)), {"cosine": 0.9, "days_old": 900})
    assert ids(rank(old, profile=Profile.INJECTION, limit=3))[0] == 21


def test_rows_older_than_any_float_are_still_strictly_ordered() -> None:
    old = pool_of(*({"cosine": 0.9, "days_old": 400 + n * 10_000} for n in range(1, 30)))
    assert ids(rank(old, profile=Profile.INJECTION, limit=29, mmr=False)) == list(range(1, 30))


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("mmr", [True, False])
def test_what_may_replace_a_row_stands_before_it_however_few_are_asked_for(
    profile: Profile, *, mmr: bool
) -> None:
    old, new = {"cosine": 0.9, "days_old": 1}, {"cosine": 0.85, "supersedes": 1}
    others = [{"cosine": 0.5, "text": text} for text in ("jam", "tea", "cake")]
    pool = pool_of(old, new, *others)
    for limit in (2, 3, 5):
        assert ids(rank(pool, profile=profile, limit=limit, mmr=mmr))[:2] == [2, 1]
    assert ids(rank(pool, profile=profile, limit=1, mmr=mmr)) == [2]
    chain = pool_of(old, new, {"cosine": 0.1, "supersedes": 2}, *others)
    assert ids(rank(chain, profile=profile, limit=3, mmr=mmr)) == [3, 2, 1]


def test_a_row_of_the_future_is_as_new_as_now() -> None:
    pool = pool_of({"days_old": -50}, {"days_old": 0})
    first, second = score(pool, np.array([0.5, 0.5]))
    assert first == second


@given(rows_strategy, st.integers(1, 12), profiles, st.booleans())
def test_an_answer_has_distinct_rows_no_more_than_asked_and_none_too_few(rows, limit, profile, mmr) -> None:  # type: ignore[no-untyped-def]
    places = rank(pool_of(*rows), profile=profile, limit=limit, mmr=mmr)
    assert len(set(ids(places))) == len(places) == min(limit, len(rows))
    assert set(ids(places)) <= {row["id"] for row in rows}


@given(rows_strategy, st.integers(1, 12), profiles, st.booleans())
def test_the_order_does_not_depend_on_how_candidates_arrive(rows, limit, profile, mmr) -> None:  # type: ignore[no-untyped-def]
    there, back = (
        ids(rank(pool_of(*some), profile=profile, limit=limit, mmr=mmr)) for some in (rows, rows[::-1])
    )
    assert there == back


@given(rows_strategy, st.integers(3, 12), profiles, st.booleans())
def test_the_first_place_is_the_top_row_and_the_two_most_relevant_are_there(
    rows, limit, profile, mmr
) -> None:  # type: ignore[no-untyped-def]
    pool = pool_of(*rows)
    places = rank(pool, profile=profile, limit=limit, mmr=mmr)
    if not rows:
        assert places == []
        return
    values = relevance(pool)
    worth = score(pool, values) if profile is Profile.INJECTION else values
    by_id = dict(zip(pool.ids.tolist(), values.tolist(), strict=True))
    assert places[0].score == pytest.approx(worth.max())
    kept = sorted((by_id[pk] for pk in ids(places)), reverse=True)[: min(2, limit)]
    assert kept == pytest.approx(sorted(by_id.values(), reverse=True)[: min(2, limit)])


@given(rows_strategy)
def test_relevance_lies_between_0_and_1(rows) -> None:  # type: ignore[no-untyped-def]
    values = relevance(pool_of(*rows))
    assert ((values >= 0.0) & (values <= 1.0)).all()


def test_what_age_pushed_out_is_marked_as_guarded() -> None:
    recent = [{"cosine": 0.8, "importance": 1.0} for _ in range(5)]
    old = {"cosine": 0.9, "importance": 0.0, "days_old": 900}
    places = rank(pool_of(*recent, old, {"cosine": 0.0}), profile=Profile.INJECTION, limit=3, mmr=False)
    assert [(place.object_id, place.guarded) for place in places][-1] == (6, True)
    assert ids(rank(pool_of(*recent, old), profile=Profile.EXPLICIT, limit=3))[0] == 6


def test_another_fact_gets_a_place_beside_many_rewordings() -> None:
    same = [
        {"cosine": 0.9 - n / 1000, "text": f"the build server runs on port eighty word{n}"}
        for n in range(1, 10)
    ]
    other = {"cosine": 0.89, "text": "Marta owns invoices"}
    pool = pool_of(*same, other, {"cosine": 0.1})
    assert 10 in ids(rank(pool, profile=Profile.INJECTION, limit=5))
    assert 10 not in ids(rank(pool, profile=Profile.INJECTION, limit=5, mmr=False))


def test_a_lone_leg_counts_as_much_as_both() -> None:
    by_words = pool_of({"words": 3.0}, {"words": 1.0})
    by_meaning = pool_of({"cosine": 0.9}, {"cosine": 0.1})
    both = pool_of({"words": 3.0, "cosine": 0.9}, {"words": 1.0, "cosine": 0.1})
    assert relevance(by_words).tolist() == pytest.approx(relevance(by_meaning).tolist())
    assert relevance(by_words).tolist() == pytest.approx(relevance(both).tolist())
    assert len(relevance(pool_of())) == 0


def test_neighbours_speaker_time_and_conversation_each_raise_a_row() -> None:
    plain = {"cosine": 0.4, "words": 1.0}
    far = {"cosine": 0.1, "words": 0.5}
    near = {"cosine": 0.8, "words": 4.0, "session": 7}
    for raised in (
        {**plain, "window_cosine": 0.7},
        {**plain, "window_words": 3.0},
        {**plain, "named": True},
        {**plain, "dated": True},
        {**plain, "session": 7},
    ):
        values = relevance(pool_of(plain, raised, far, near))
        assert values[1] > values[0]


@pytest.mark.parametrize(
    ("row", "is_in"),
    [
        ({"cosine": 0.55}, True),
        ({"cosine": 0.549}, False),
        ({"cosine": 0.42, "text": "x" * 301}, True),
        ({"cosine": 0.42, "text": "x" * 300}, False),
        ({"cosine": 0.0, "words_share": 1.0}, True),
        ({"words_share": 0.9}, False),
    ],
)
def test_admission_looks_at_raw_cosine_or_all_terms(row: dict[str, Any], *, is_in: bool) -> None:
    beside = {"cosine": 0.9}
    for aged in (row, {**row, "days_old": 5_000, "importance": 0.0}):
        assert admitted(pool_of(aged, beside), SEED_THRESHOLDS, question="tea").tolist() == [is_in, True]


def test_without_vectors_half_of_the_words_admit() -> None:
    pool = pool_of({"words_share": 0.5}, {"words_share": 0.49})
    assert admitted(pool, SEED_THRESHOLDS, question="is it in").tolist() == [True, False]


def test_a_script_that_the_model_places_by_accident_is_admitted_by_its_words() -> None:
    limits = replace(SEED_THRESHOLDS, latin_only=True)
    chinese = [{"cosine": 0.9, "text": "数据库部署在服务器上"}, {"cosine": 0.1, "text": "我住在上海浦东新区"}]
    russian = [{"cosine": 0.9, "words_share": 0.4}, {"cosine": 0.1, "words_share": 0.5}]
    assert admitted(pool_of(*chinese), limits, question="我住在哪里").tolist() == [False, True]
    assert admitted(pool_of(*chinese), limits, question="今天天气怎么样").tolist() == [False, False]
    assert admitted(pool_of(*russian), limits, question="Где живёт собака?").tolist() == [False, True]
    assert admitted(pool_of(*chinese), limits, question="where do I live").tolist() == [True, False]
    assert admitted(pool_of(*chinese), SEED_THRESHOLDS, question="我住在哪里").tolist() == [True, False]


def test_only_keeps_the_rows_it_is_told_to() -> None:
    pool = pool_of({"cosine": 0.1}, {"cosine": 0.2, "text": "seven"}, {"cosine": 0.3})
    kept = pool.only(np.array([False, True, False]))
    assert (kept.ids.tolist(), kept.text.tolist(), len(kept)) == ([2], ["seven"], 1)
    assert replace(kept).cosine[0] == 0.2


def test_the_slowest_tag_sets_the_rate() -> None:
    assert decay_rate(["standup", "incident"], {"standup": 0.1, "incident": 0.01}) == 0.01
    assert decay_rate(["other"], {"standup": 0.1}) == 0.03


@pytest.mark.parametrize(("limit", "size"), [(1, 64), (12, 64), (13, 65), (200, 1000), (5000, 1000)])
def test_each_leg_is_asked_for_enough(limit: int, size: int) -> None:
    assert pool_size(limit) == size

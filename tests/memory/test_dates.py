"""Dates in questions."""

from __future__ import annotations

import datetime as dt

import pytest

from memory.dates import NamedDate, named_dates


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What did Jo do in July 2023?", [NamedDate(7, None, 2023)]),
        ("Where was she on 7 May, 2023?", [NamedDate(5, 7, 2023)]),
        ("Where was she on May 7th 2023?", [NamedDate(5, 7, 2023)]),
        ("the meeting on the 3rd of March", [NamedDate(3, 3)]),
        ("2023-05-07 release", [NamedDate(5, 7, 2023)]),
        ("what broke in 2023-05", [NamedDate(5, None, 2023)]),
        ("Was geschah am 3. März 2024?", [NamedDate(3, 3, 2024)]),
        ("¿qué pasó el 5 de mayo de 2022?", [NamedDate(5, 5, 2022)]),
        ("between July and August", [NamedDate(7), NamedDate(8)]),
        ("in may", [NamedDate(5)]),
        ("the outage of 5/7/2023", [NamedDate(7, 5, 2023), NamedDate(5, 7, 2023)]),
        ("the outage of 5/27/2023", [NamedDate(5, 27, 2023)]),
        ("der Ausfall am 5.7.2023.", [NamedDate(7, 5, 2023)]),
        ("2023年5月7日发生了什么", [NamedDate(5, 7, 2023)]),
        ("2023年5月に何をしましたか", [NamedDate(5, None, 2023)]),
        ("5月7日の会議", [NamedDate(5, 7)]),
        ("2023년 5월 7일 회의", [NamedDate(5, 7, 2023)]),
        ("version 1.2.2023.4, 99/99/2023 and 13.13.2023", []),
        ("Did April meet June? Is there life on Mars?", []),
        ("il a sept ans", []),
        ("May I march with Jan to Mars?", []),
        ("It may rain", []),
        ("2023-19-77 and 31/12", []),
        ("", []),
    ],
)
def test_a_month_names_a_time_and_a_common_word_does_not(question: str, found: list[NamedDate]) -> None:
    assert list(named_dates(question)) == found


@pytest.mark.parametrize(
    ("named", "date", "covered"),
    [
        (NamedDate(5, 7, 2023), dt.date(2023, 5, 7), True),
        (NamedDate(5, 7, 2023), dt.date(2023, 5, 6), True),
        (NamedDate(5, 7, 2023), dt.date(2023, 5, 5), False),
        (NamedDate(5, 7, 2023), dt.date(2023, 5, 21), True),
        (NamedDate(5, 7, 2023), dt.date(2023, 5, 22), False),
        (NamedDate(5, None, 2023), dt.date(2024, 5, 10), False),
        (NamedDate(5), dt.date(2024, 5, 10), True),
        (NamedDate(12), dt.date(2024, 1, 10), True),
        (NamedDate(12), dt.date(2024, 1, 20), False),
        (NamedDate(2, 30), dt.date(2024, 3, 1), False),
        (NamedDate(12, 31, 9999), dt.date(9999, 12, 31), True),
        (NamedDate(12, None, 9999), dt.date(9999, 12, 31), True),
        (NamedDate(1), dt.date(1, 1, 1), True),
    ],
)
def test_what_is_told_some_days_after_is_about_that_time(
    named: NamedDate, date: dt.date, *, covered: bool
) -> None:
    assert named.covers(date) is covered

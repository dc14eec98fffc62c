"""Facts and lessons as they stood at a moment, whatever happened to their rows since."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessons.models import Lesson
from lessons.services import lesson_delete, lesson_edit, lesson_restore, lesson_undo, lesson_write
from memory.as_of import memory_as_of, moment_named
from memory.models import SemanticMemory
from memory.services import memory_restore, restore, semantic_delete, semantic_write
from tests.factories import EXPLICIT

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

pytestmark = pytest.mark.django_db
MINUTE = dt.timedelta(minutes=1)
DAY = dt.timedelta(days=1)


def texts(home: Workspace, moment: dt.datetime) -> list[str]:
    return [standing.text for standing in memory_as_of(home=home, moment=moment)]


def fact(home: Workspace, value: Any, at: dt.datetime) -> SemanticMemory:
    row = semantic_write(home=home, key="pref.editor", value=value, origin=EXPLICIT, now=at).row
    assert row is not None
    return row


def teach(home: Workspace, rule: str, at: dt.datetime) -> Lesson:
    row = lesson_write(home=home, rule=rule, origin=EXPLICIT, now=at).row
    assert row is not None
    return row


def test_each_value_stands_from_its_write_to_the_next(home: Workspace, now: dt.datetime) -> None:
    fact(home, "vim", now)
    fact(home, "emacs", now + DAY)
    assert texts(home, now - MINUTE) == []
    assert texts(home, now) == ["pref.editor: vim"]
    assert texts(home, now + DAY - MINUTE) == ["pref.editor: vim"]
    assert texts(home, now + DAY) == ["pref.editor: emacs"]
    first = memory_as_of(home=home, moment=now)[0]
    assert (first.since, first.until) == (now, now + DAY)


def test_a_restored_value_does_not_rewrite_what_stood_between(home: Workspace, now: dt.datetime) -> None:
    vim = fact(home, "vim", now)
    fact(home, "emacs", now + DAY)
    memory_restore(row=vim, origin=EXPLICIT, now=now + 2 * DAY)
    assert [texts(home, now + days * DAY) for days in range(3)] == [
        ["pref.editor: vim"],
        ["pref.editor: emacs"],
        ["pref.editor: vim"],
    ]


def test_a_gap_of_deletion_stays_a_gap(home: Workspace, now: dt.datetime) -> None:
    row = fact(home, "vim", now)
    semantic_delete(row=row, origin=EXPLICIT, now=now + DAY)
    memory_restore(row=row, origin=EXPLICIT, now=now + 2 * DAY)
    assert [bool(texts(home, now + days * DAY)) for days in range(3)] == [True, False, True]


def test_lessons_stand_with_the_wording_of_their_day(home: Workspace, now: dt.datetime) -> None:
    row = teach(home, "use pytest", now)
    lesson_edit(row=row, rule="use pytest with xdist", origin=EXPLICIT, now=now + DAY)
    lesson_delete(row=row, origin=EXPLICIT, now=now + 2 * DAY)
    lesson_restore(row=row, origin=EXPLICIT, now=now + 3 * DAY)
    assert [texts(home, now + days * DAY) for days in range(4)] == [
        ["use pytest"],
        ["use pytest with xdist"],
        [],
        ["use pytest with xdist"],
    ]
    assert Lesson.objects.get().pk == row.pk


def test_a_pin_is_no_new_wording(home: Workspace, now: dt.datetime) -> None:
    row = teach(home, "use pytest", now)
    lesson_edit(row=row, rule="use pytest", pinned=True, origin=EXPLICIT, now=now + DAY)
    assert Lesson.all_objects.count() == 1


def test_undoing_a_replacement_keeps_the_day_it_stood(home: Workspace, now: dt.datetime) -> None:
    teach(home, "use dark mode", now)
    light = teach(home, "use light mode", now + DAY)
    lesson_undo(row=light, origin=EXPLICIT, now=now + 2 * DAY)
    assert [texts(home, now + days * DAY) for days in range(3)] == [
        ["use dark mode"],
        ["use light mode"],
        ["use dark mode"],
    ]


def test_undoing_a_restored_lesson_leaves_alone_what_an_earlier_life_replaced(
    home: Workspace, now: dt.datetime
) -> None:
    dark = teach(home, "use dark mode", now)
    light = teach(home, "use light mode", now + DAY)
    lesson_undo(row=light, origin=EXPLICIT, now=now + 2 * DAY)
    lesson_delete(row=dark, origin=EXPLICIT, now=now + 3 * DAY)
    lesson_restore(row=light, origin=EXPLICIT, now=now + 4 * DAY)
    assert lesson_undo(row=light, origin=EXPLICIT, now=now + 5 * DAY).restored == ()
    assert not Lesson.objects.exists()


@pytest.mark.parametrize(
    ("zone", "day", "until"),
    [
        ("UTC", "2026-03-10", "2026-03-11T00:00Z"),
        ("Asia/Kathmandu", "2026-03-10", "2026-03-10T18:15Z"),
        # The last hour of the day comes twice.
        ("America/Santiago", "2026-04-04", "2026-04-05T04:00Z"),
        ("Africa/Cairo", "2026-10-29", "2026-10-29T22:00Z"),
        # The day after is skipped.
        ("Pacific/Apia", "2011-12-29", "2011-12-30T10:00Z"),
    ],
)
def test_a_day_means_its_last_moment_there(home: Workspace, zone: str, day: str, until: str) -> None:
    home.time_zone = zone
    end = dt.datetime.fromisoformat(until) - dt.timedelta(microseconds=1)
    assert moment_named(day, home) == end


def test_another_homes_past_is_not_told(home: Workspace, other_home: Workspace, now: dt.datetime) -> None:
    fact(other_home, "vim", now)
    teach(other_home, "use pytest", now)
    assert texts(home, now + DAY) == []


def test_writers_whose_clocks_disagree_leave_one_value_at_a_time(home: Workspace, now: dt.datetime) -> None:
    fact(home, "vim", now + MINUTE)
    fact(home, "emacs", now)
    for second in range(0, 121, 30):
        assert len(texts(home, now + dt.timedelta(seconds=second))) <= 1
    assert texts(home, now + DAY) == ["pref.editor: emacs"]


def test_a_value_written_while_another_is_being_restored_is_in_the_past_too(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = semantic_write(home=home, key="pref.editor", value="one", origin=EXPLICIT).row
    semantic_write(home=home, key="pref.editor", value="two", origin=EXPLICIT)

    def slow(text: str) -> None:
        semantic_write(home=home, key="pref.editor", value="three", origin=EXPLICIT)

    monkeypatch.setattr(restore, "embed_document", slow)
    assert one is not None
    assert memory_restore(row=one, origin=EXPLICIT).outcome == "restored"
    stood = SemanticMemory.all_objects.order_by("valid_from").values_list("value", flat=True)
    assert list(stood) == ["one", "two", "three", "one"]
    assert_lives_follow_each_other(SemanticMemory.all_objects.all())


def assert_lives_follow_each_other(rows: Any) -> None:
    lives = list(rows.order_by("valid_from", "pk").values_list("valid_from", "deleted_at"))
    assert all(end is None or begin < end for begin, end in lives)
    assert all(end is not None and end <= begin for (_, end), (begin, _) in pairwise(lives))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", "delete", "restore"]), st.integers(-3, 3)), max_size=8
    )
)
def test_lives_of_one_key_follow_each_other_whatever_the_clocks_say(
    home: Workspace, now: dt.datetime, steps: list[tuple[str, int]]
) -> None:
    SemanticMemory.all_objects.filter(home=home).delete()
    Lesson.all_objects.filter(home=home).delete()
    for step, hours in steps:
        at = now + dt.timedelta(hours=hours)
        value, rule = SemanticMemory.objects.first(), Lesson.objects.first()
        if step == "delete":
            if value and rule:
                semantic_delete(row=value, origin=EXPLICIT, now=at)
                lesson_delete(row=rule, origin=EXPLICIT, now=at)
        elif step == "restore":
            ended = SemanticMemory.all_objects.deleted().order_by("pk").first()
            unlearned = Lesson.all_objects.deleted().order_by("pk").first()
            if ended and unlearned:
                memory_restore(row=ended, origin=EXPLICIT, now=at)
                lesson_restore(row=unlearned, origin=EXPLICIT, now=at)
        else:
            fact(home, step, at)
            teach(home, f"use {step}ards mode", at)
    assert_lives_follow_each_other(SemanticMemory.all_objects.all())
    for key in set(Lesson.all_objects.values_list("key", flat=True)):
        assert_lives_follow_each_other(Lesson.all_objects.filter(key=key))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.sampled_from(["a", "b", "c", "delete", "restore"]), min_size=1, max_size=8))
def test_the_past_reads_the_same_later_as_it_did_then(
    home: Workspace, now: dt.datetime, steps: list[str]
) -> None:
    SemanticMemory.all_objects.filter(home=home).delete()
    seen: list[tuple[dt.datetime, list[Any]]] = []
    for number, step in enumerate(steps):
        at = now + number * DAY
        live = SemanticMemory.objects.filter(home=home).first()
        if step == "delete" and live:
            semantic_delete(row=live, origin=EXPLICIT, now=at)
        elif step == "restore":
            ended = SemanticMemory.all_objects.filter(home=home).deleted().order_by("pk").first()
            if ended:
                memory_restore(row=ended, origin=EXPLICIT, now=at)
        elif step in "abc":
            fact(home, step, at)
        values = list(SemanticMemory.objects.filter(home=home).values_list("value", flat=True))
        seen.append((at, [f"pref.editor: {value}" for value in values]))
    assert [texts(home, at) for at, _ in seen] == [values for _, values in seen]

"""The decisions of 2.5 with the cosines of the model that every installation starts with."""

from __future__ import annotations

import pytest

from lessons.models import Lesson
from lessons.services import lesson_write
from tests.factories import EXPLICIT

pytestmark = [pytest.mark.sqlite_only, pytest.mark.django_db]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("use dark mode", "use light mode"),
        ("use tabs for indentation", "use spaces for indentation"),
        ("keep functions under 60 lines", "keep functions under 80 lines"),
        ("always add emojis to answers", "never add emojis to answers"),
    ],
)
def test_a_rule_gives_way_to_its_successor(home, compact_embedder, old: str, new: str) -> None:
    first = lesson_write(home=home, rule=old, origin=EXPLICIT).row
    result = lesson_write(home=home, rule=new, origin=EXPLICIT)
    assert (result.outcome, result.superseded) == ("replaced", (first.pk,))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("always run the tests before a release", "always run the linter before a release"),
        ("always run the linter before a release", "always run the tests before a release"),
        ("back up the database before migrations", "back up the uploads before migrations"),
        ("use dark mode", "use TypeScript"),
    ],
)
def test_rules_about_two_things_both_live(home, compact_embedder, old: str, new: str) -> None:
    lesson_write(home=home, rule=old, origin=EXPLICIT)
    assert lesson_write(home=home, rule=new, origin=EXPLICIT).outcome == "inserted"
    assert Lesson.objects.count() == 2

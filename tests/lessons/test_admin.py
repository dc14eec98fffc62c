from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from crewsite.security.models import MemoryEvent
from lessons.models import Lesson
from lessons.services import lesson_delete, lesson_write
from tests.factories import EXPLICIT, make_user

LIST = "admin:lessons_lesson_changelist"
CHANGE = "admin:lessons_lesson_change"


@pytest.fixture
def admin(home) -> Client:
    client = Client()
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    return client


def act(client: Client, name: str, *rows: Lesson):
    data = {"action": name, "_selected_action": [row.pk for row in rows]}
    return client.post(reverse(LIST), data, follow=True)


def form(rule: str, **fields: object) -> dict[str, object]:
    return {"rule": rule, "negative": "", "category": "knowledge", "scope": "", **fields}


def test_the_list_shows_live_and_deleted_lessons(admin, home) -> None:
    lesson_write(home=home, rule="use pytest", origin=EXPLICIT)
    gone = lesson_write(home=home, rule="answer in French", origin=EXPLICIT).row
    lesson_delete(row=gone, origin=EXPLICIT)
    page = admin.get(reverse(LIST)).content.decode()
    assert "use pytest" in page
    assert "answer in French" in page


def test_adding_goes_through_the_service_and_names_the_operator(admin, home) -> None:
    response = admin.post(reverse("admin:lessons_lesson_add"), form("use pytest", home=home.pk), follow=True)
    assert response.status_code == 200
    row = Lesson.objects.get()
    assert (row.rule, row.source, row.author.username) == ("use pytest", "user_explicit", "root")
    assert MemoryEvent.objects.get(event="create", object_id=row.pk).actor == "root"


def test_a_refused_rule_is_explained_and_not_saved(admin, home) -> None:
    response = admin.post(reverse("admin:lessons_lesson_add"), form("ab", home=home.pk), follow=True)
    assert "at least 3 characters" in response.content.decode()
    assert not Lesson.all_objects.exists()
    assert MemoryEvent.objects.filter(event="refused", memory_type="lesson").count() == 1


def test_editing_keeps_the_old_wording_as_an_event(admin, home) -> None:
    row = lesson_write(home=home, rule="use pytest", origin=EXPLICIT).row
    admin.post(reverse(CHANGE, args=[row.pk]), form("use pytest always", pinned="on"), follow=True)
    row.refresh_from_db()
    assert (row.rule, row.pinned) == ("use pytest always", True)
    assert MemoryEvent.objects.get(event="update", object_id=row.pk).old_value.startswith("use pytest (")


def test_deleting_restoring_and_pinning_are_actions(admin, home) -> None:
    row = lesson_write(home=home, rule="use pytest", origin=EXPLICIT).row
    act(admin, "tombstone_selected", row)
    assert not Lesson.objects.exists()
    act(admin, "restore_selected", Lesson.all_objects.get())
    assert Lesson.objects.get().rule == "use pytest"
    act(admin, "pin_selected", row)
    assert Lesson.objects.get().pinned
    act(admin, "unpin_selected", row)
    assert not Lesson.objects.get().pinned


def test_a_superseded_lesson_is_restored_over_its_successor(admin, home) -> None:
    dark = lesson_write(home=home, rule="use dark mode", origin=EXPLICIT).row
    lesson_write(home=home, rule="use light mode", origin=EXPLICIT)
    act(admin, "restore_selected", dark)
    assert [row.rule for row in Lesson.objects.all()] == ["use dark mode"]


def test_a_tombstone_can_be_looked_at_and_not_edited(admin, home) -> None:
    row = lesson_write(home=home, rule="use pytest", origin=EXPLICIT).row
    lesson_delete(row=row, origin=EXPLICIT)
    assert admin.get(reverse(CHANGE, args=[row.pk])).status_code == 200
    assert admin.post(reverse(CHANGE, args=[row.pk]), form("use nose")).status_code == 403


def test_stored_markup_is_shown_as_text(admin, home) -> None:
    lesson_write(home=home, rule="always <img src=x onerror=alert(1)> pytest", origin=EXPLICIT)
    assert "<img src=x" not in admin.get(reverse(LIST)).content.decode()


def test_a_lesson_is_deleted_and_restored_from_its_own_page_which_explains_it(admin, home) -> None:
    row = lesson_write(home=home, rule="use pytest", origin=EXPLICIT).row
    url = reverse("admin:lessons_lesson_change", args=[row.pk])
    assert "Explain" in admin.get(url).content.decode()
    for name, is_deleted in (("tombstone", True), ("restore", False)):
        answer = admin.post(reverse(f"admin:lessons_lesson_{name}", args=[row.pk]))
        row.refresh_from_db()
        assert (answer.status_code, row.is_deleted) == (302, is_deleted)

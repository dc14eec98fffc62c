"""The admin's frame: its first page and its menu."""

from __future__ import annotations

import re
from typing import Any

import pytest
from constance import config
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from crewsite.accounts.models import User, Workspace
from crewsite.settings.live import CONSTANCE_CONFIG, CONSTANCE_LABELS
from lessons.models import Lesson
from tests.factories import make_user


@pytest.fixture
def operator(db: None) -> Client:
    client = Client()
    client.force_login(make_user("operator", is_staff=True, is_superuser=True))
    return client


def test_the_first_page_counts_rows_of_each_layer(operator: Client, home: Workspace) -> None:
    Lesson.objects.create(home=home, key="lesson.1", rule="Always use pytest.", source="user_explicit")
    page = operator.get(reverse("admin:index")).content.decode()
    for label in ("Facts", "Episodes", "Lessons", "To review", "Refused writes", "Jobs running"):
        assert label in page
    assert '<span class="crew-value">1</span><span class="crew-label">Lessons</span>' in page


def test_the_first_page_asks_the_same_number_of_queries_however_much_is_stored(
    operator: Client, home: Workspace, django_assert_max_num_queries: Any
) -> None:
    rows = [Lesson(home=home, key=f"lesson.{n}", rule=f"Rule {n}.", source="import") for n in range(200)]
    Lesson.objects.bulk_create(rows)
    operator.get(reverse("admin:index"))
    with django_assert_max_num_queries(35):
        operator.get(reverse("admin:index"))


def test_the_menu_leads_to_every_layer_and_back_to_the_site(operator: Client) -> None:
    page = operator.get(reverse("admin:index")).content.decode()
    for route in (
        "memory_semanticmemory", "memory_episodicmemory", "lessons_lesson", "memory_preferencesdocument",
        "memory_projectsdocument", "memory_historyentry", "memory_reviewitem", "conversations_conversation",
        "chat_turn", "security_memoryevent", "jobs_job", "accounts_workspace", "accounts_membership",
        "accounts_apitoken", "embeddings_space", "constance_config",
    ):  # fmt: skip
        assert f'href="{reverse(f"admin:{route}_changelist")}"' in page, route
    assert "Back to the site" in page


def test_staff_see_only_the_tables_they_may(db: None) -> None:
    helper = make_user("helper", is_staff=True)
    helper.user_permissions.add(Permission.objects.get(codename="view_lesson"))
    client = Client()
    client.force_login(User.objects.get(pk=helper.pk))
    page = client.get(reverse("admin:index")).content.decode()
    assert reverse("admin:lessons_lesson_changelist") in page
    assert reverse("admin:memory_semanticmemory_changelist") not in page
    assert "crew-cards" not in page


def _settings_form(operator: Client, **changed: str) -> Any:
    address = reverse("admin:constance_config_changelist")
    form = operator.get(address).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() not in {None, False}}
    return operator.post(address, {**sent, "version": form.initial["version"], **changed})


def test_live_settings_are_saved_under_their_own_title(operator: Client) -> None:
    page = operator.get(reverse("admin:constance_config_changelist")).content.decode()
    assert "Constance" not in page
    for name, label in CONSTANCE_LABELS.items():
        assert f"{label} <code>{name}</code>" in page
    assert list(CONSTANCE_LABELS) == list(CONSTANCE_CONFIG)
    assert "<title>" in page
    assert _settings_form(operator, CHAT_MAX_RUNNING_TURNS="7").status_code == 302
    assert config.CHAT_MAX_RUNNING_TURNS == 7


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CHAT_MAX_RUNNING_TURNS", "-1"),
        ("HISTORY_MAX_DAYS", str(2**31)),
        ("HISTORY_IDLE_HOURS", "-0.5"),
        ("MODEL_WINDOWS", "x" * 2_001),
    ],
)
def test_live_settings_have_the_same_bounds_in_admin_as_in_every_other_door(
    operator: Client, name: str, value: str
) -> None:
    before = getattr(config, name)
    answer = _settings_form(operator, **{name: value})
    assert answer.status_code == 200
    assert answer.context["form"].errors[name]
    assert getattr(config, name) == before


def test_a_list_marks_only_what_is_not_in_use_and_writes_times_on_one_line(
    operator: Client, home: Workspace
) -> None:
    Lesson.objects.create(home=home, key="lesson.1", rule="Always use pytest.", source="user_explicit")
    address = reverse("admin:lessons_lesson_changelist")
    page = operator.get(address).content.decode()
    assert "close_small" not in page
    assert "in use" not in page
    assert re.search(r">\d{4}-\d\d-\d\d \d\d:\d\d<", page)
    row = Lesson.objects.get()
    row.pinned = True
    row.mark_deleted(reason="deleted")
    row.save()
    page = operator.get(address).content.decode()
    assert "check_small" in page
    assert re.search(r"bg-red-100[^>]*>\s*deleted", page)

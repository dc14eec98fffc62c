"""Admin shows the audit trail and lets no one change it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from crewsite.security.events import event_record
from crewsite.security.models import MemoryEvent
from tests.factories import EXPLICIT, make_user


@pytest.fixture
def operator(db: None) -> Client:
    client = Client()
    client.force_login(make_user("operator", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def event(db: None) -> MemoryEvent:
    return event_record(
        home_id=1,
        event="update",
        memory_type="semantic",
        old={"editor": "emacs"},
        new="<script>1</script>",
        origin=EXPLICIT,
    )


@pytest.mark.parametrize("query", ["", "?event__exact=update", "?q=emacs", "?memory_type=semantic"])
def test_the_list_filters_and_searches(operator: Client, event: MemoryEvent, query: str) -> None:
    page = operator.get(reverse("admin:security_memoryevent_changelist") + query)
    assert page.status_code == 200
    assert "semantic" in page.content.decode()


def test_one_event_shows_its_values_escaped(operator: Client, event: MemoryEvent) -> None:
    html = operator.get(reverse("admin:security_memoryevent_change", args=[event.pk])).content.decode()
    assert "emacs" in html
    assert "&lt;script&gt;1&lt;/script&gt;" in html
    assert "<script>1</script>" not in html


@pytest.mark.parametrize("page", ["change", "delete"])
def test_not_even_a_superuser_changes_or_deletes_an_event(
    operator: Client, event: MemoryEvent, page: str
) -> None:
    answer = operator.post(
        reverse(f"admin:security_memoryevent_{page}", args=[event.pk]), {"post": "yes", "reason": "x"}
    )
    assert answer.status_code == 403
    assert MemoryEvent.objects.get().reason == ""


@pytest.mark.parametrize("name", ["security_memoryevent", "search_document"])
def test_rows_of_every_workspace_are_for_operators_only(
    operator: Client, event: MemoryEvent, name: str
) -> None:
    staff = make_user("staff", is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client = Client()
    client.force_login(staff)
    assert client.get(reverse(f"admin:{name}_changelist")).status_code == 403
    assert operator.get(reverse(f"admin:{name}_changelist")).status_code == 200
    assert client.get(reverse("admin:security_memoryevent_change", args=[event.pk])).status_code == 403


def test_no_one_adds_an_event_by_hand(operator: Client) -> None:
    assert operator.get(reverse("admin:security_memoryevent_add")).status_code == 403

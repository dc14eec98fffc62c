"""Standing instructions of a workspace: who may write them, and that a prompt has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.urls import reverse

from crewsite.accounts.models import User, Workspace
from crewsite.security.models import MemoryEvent
from tests.factories import make_workspace

if TYPE_CHECKING:
    from django.http import HttpResponse

pytestmark = pytest.mark.django_db


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def write(user: User, workspace: Workspace, steering: str, agent_prompt: str = "") -> HttpResponse:
    data = {"workspace": workspace.pk, "steering": steering, "agent_prompt": agent_prompt}
    return signed_in(user).post(reverse("dashboard:instructions"), data, follow=True)


def test_an_owner_writes_them_and_the_next_prompt_has_them(alice: User, home: Workspace) -> None:
    page = write(alice, home, "Never deploy on a Friday.", "You work for a harbour.").content.decode()
    assert "It holds from the next message on." in page
    assert "Never deploy on a Friday." in page
    packet = signed_in(alice).get(reverse("dashboard:context"), {"q": "hello"}).content.decode()
    assert "[Steering]\nNever deploy on a Friday." in packet
    assert "You work for a harbour." in packet


def test_a_change_is_an_event_with_the_old_and_the_new_text(alice: User, home: Workspace) -> None:
    write(alice, home, "first")
    write(alice, home, "second")
    write(alice, home, "second")
    events = MemoryEvent.objects.filter(memory_type="steering").order_by("pk")
    assert [(row.old_value, row.new_value, row.actor, row.surface) for row in events] == [
        ("", "first", "alice", "web"),
        ("first", "second", "alice", "web"),
    ]


def test_a_member_reads_them_and_may_not_write(bob: User, home: Workspace) -> None:
    Workspace.objects.filter(pk=home.pk).update(steering="Answer in English.")
    page = signed_in(bob).get(reverse("dashboard:instructions")).content.decode()
    assert "Answer in English." in page
    assert "readonly" in page
    assert "Save" not in page
    assert write(bob, home, "mine").status_code == 403
    home.refresh_from_db()
    assert home.steering == "Answer in English."


def test_a_workspace_that_is_not_the_persons_own_is_refused(alice: User, home: Workspace) -> None:
    other = make_workspace("other")
    page = write(alice, other, "mine").content.decode()
    assert "Select a valid choice" in page
    other.refresh_from_db()
    assert other.steering == ""


def test_an_edit_in_admin_is_an_event_too(home: Workspace) -> None:
    root = User.objects.create_superuser("root", password="correct horse battery")
    data = {
        "name": home.name,
        "slug": home.slug,
        "time_zone": "UTC",
        "language": "en",
        "steering": "Be brief.",
        "memberships-TOTAL_FORMS": "0",
        "memberships-INITIAL_FORMS": "0",
    }
    address = reverse("admin:accounts_workspace_change", args=[home.pk])
    assert signed_in(root).post(address, data).status_code == 302
    event = MemoryEvent.objects.get(memory_type="steering")
    assert (event.new_value, event.actor, event.surface) == ("Be brief.", "root", "admin")

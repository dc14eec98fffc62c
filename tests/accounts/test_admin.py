"""Admin pages of accounts and jobs: they open, keep the rules, and show no secret."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from django.utils import timezone

from crewsite.accounts.models import ApiToken, Membership, User, Workspace
from crewsite.accounts.services import login_link_create, token_create
from crewsite.jobs.models import Heartbeat, Job, Lease
from tests.factories import make_member, make_user, make_workspace

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db

MODELS = [
    "accounts_user",
    "accounts_workspace",
    "accounts_membership",
    "accounts_apitoken",
    "accounts_loginlink",
    "jobs_job",
    "jobs_lease",
    "jobs_heartbeat",
    "django_q_schedule",
    "django_q_success",
    "django_q_failure",
]


@pytest.fixture
def operator(client: Client, home: Workspace) -> Client:
    client.force_login(make_user("root", is_superuser=True, is_staff=True))
    return client


@pytest.mark.parametrize("model", MODELS)
def test_every_list_opens(operator: Client, alice: User, model: str) -> None:
    token_create(user=alice, name="ci")
    login_link_create(alice)
    Job.objects.create(kind="backfill")
    Lease.objects.create(name="x", owner="y", expires_at=timezone.now() + timedelta(minutes=1))
    Heartbeat.objects.create(name="worker")
    assert operator.get(reverse(f"admin:{model}_changelist")).status_code == 200


def test_pages_of_single_rows_open(operator: Client, alice: User, home: Workspace) -> None:
    job = Job.objects.create(kind="backfill", detail={"step": "<script>"})
    token_create(user=alice, name="ci")
    pages = {
        "accounts_user": alice.pk,
        "accounts_workspace": home.pk,
        "accounts_membership": Membership.objects.get(user=alice).pk,
        "accounts_apitoken": ApiToken.objects.get().pk,
        "jobs_job": job.pk,
    }
    for name, pk in pages.items():
        page = operator.get(reverse(f"admin:{name}_change", args=[pk]))
        assert page.status_code == 200, name
    assert "<script>" not in page.content.decode().split("step")[1][:40]


def test_no_page_shows_a_token_or_lets_one_be_made(operator: Client, alice: User) -> None:
    token, text = token_create(user=alice, name="ci")
    page = operator.get(reverse("admin:accounts_apitoken_change", args=[token.pk])).content.decode()
    assert text not in page
    assert operator.get(reverse("admin:accounts_apitoken_add")).status_code == 403


def test_tokens_can_be_revoked(operator: Client, alice: User) -> None:
    token, _ = token_create(user=alice, name="ci")
    url = reverse("admin:accounts_apitoken_changelist")
    operator.post(url, {"action": "revoke", "_selected_action": [token.pk]})
    assert not ApiToken.objects.exists()


def test_a_membership_that_opens_a_home_needs_the_operators_confirmation(
    operator: Client, charlie: User
) -> None:
    guest = make_workspace("guest")
    url = reverse("admin:accounts_membership_add")
    fields = {"user": charlie.pk, "workspace": guest.pk, "role": "member"}
    refused = operator.post(url, fields)
    assert refused.status_code == 200
    assert "would read the memory of Default" in refused.content.decode()
    assert not Membership.objects.filter(user=charlie).exists()
    operator.post(url, {**fields, "confirm_sharing": "on"})
    assert Membership.objects.filter(user=charlie, workspace=guest).exists()


def workspace_with(person: User, **fields: str) -> dict[str, str]:
    """The form of a new workspace with one member in it."""
    member = {"TOTAL_FORMS": "1", "INITIAL_FORMS": "0", "0-user": str(person.pk), "0-role": "member"}
    return {
        "name": "Guest",
        "slug": "guest",
        "time_zone": "UTC",
        "language": "en",
        **{f"memberships-{name}": value for name, value in member.items()},
        **fields,
    }


def test_a_new_workspace_with_a_stranger_in_it_needs_the_confirmation_too(
    operator: Client, alice: User, charlie: User, caplog: pytest.LogCaptureFixture
) -> None:
    url, confirmed = reverse("admin:accounts_workspace_add"), {"memberships-0-confirm_sharing": "on"}
    refused = operator.post(url, workspace_with(charlie))
    assert "would read the memory of Default" in refused.content.decode()
    assert not Workspace.objects.filter(slug="guest").exists()
    for number, (person, fields) in enumerate([(charlie, {"is_isolated": "on"}), (alice, {})]):
        operator.post(url, workspace_with(person, slug=f"open{number}", **fields))
        assert Membership.objects.filter(user=person, workspace__slug=f"open{number}").exists()
    assert not [record for record in caplog.records if record.levelname == "CRITICAL"]
    operator.post(url, workspace_with(charlie, **confirmed))
    assert Membership.objects.filter(user=charlie, workspace__slug="guest").exists()
    assert "root confirmed for Guest: charlie would read the memory of Default" in caplog.text


def test_what_an_operator_confirms_is_logged_as_critical(
    operator: Client, charlie: User, caplog: pytest.LogCaptureFixture
) -> None:
    guest = make_workspace("guest")
    fields = {"user": charlie.pk, "workspace": guest.pk, "role": "member", "confirm_sharing": "on"}
    operator.post(reverse("admin:accounts_membership_add"), fields)
    apart = make_workspace("apart", is_isolated=True)
    make_member(charlie, apart)
    form = workspace_with(charlie, name="Apart", slug="apart", confirm_sharing="on")
    form |= {"memberships-TOTAL_FORMS": "0"}
    operator.post(reverse("admin:accounts_workspace_change", args=[apart.pk]), form)
    apart.refresh_from_db()
    assert not apart.is_isolated
    said = [record.getMessage() for record in caplog.records if record.levelname == "CRITICAL"]
    assert [text.split(":")[0] for text in said] == ["root confirmed for Guest", "root confirmed for Apart"]


def test_the_role_of_a_member_changes_and_nobody_becomes_somebody_else(
    operator: Client, alice: User, charlie: User, home: Workspace
) -> None:
    membership = Membership.objects.get(user=alice)
    url = reverse("admin:accounts_membership_change", args=[membership.pk])
    operator.post(url, {"user": charlie.pk, "workspace": home.pk, "role": "viewer"})
    form = workspace_with(charlie, name="Default", slug="default")
    members = {"INITIAL_FORMS": "1", "0-id": str(membership.pk), "0-role": "owner"}
    form |= {f"memberships-{name}": value for name, value in members.items()}
    for sent, role in ((None, "viewer"), (form, "owner")):
        if sent:
            operator.post(reverse("admin:accounts_workspace_change", args=[home.pk]), sent)
        found = [(row.user, row.role) for row in Membership.objects.filter(workspace=home)]
        assert found == [(alice, role)]


def test_a_workspace_cannot_join_a_home_of_strangers(operator: Client, charlie: User) -> None:
    apart = make_workspace("apart", is_isolated=True)
    membership = make_member(charlie, apart)
    fields = {
        "name": "Apart",
        "slug": "apart",
        "time_zone": "UTC",
        "language": "en",
        "memberships-TOTAL_FORMS": "1",
        "memberships-INITIAL_FORMS": "1",
        "memberships-0-id": membership.pk,
        "memberships-0-user": charlie.pk,
        "memberships-0-workspace": apart.pk,
        "memberships-0-role": "member",
    }
    url = reverse("admin:accounts_workspace_change", args=[apart.pk])
    refused = operator.post(url, fields)
    assert refused.status_code == 200
    apart.refresh_from_db()
    assert apart.is_isolated


@pytest.mark.parametrize("zone", ["Erope/Berlin", "America", ""])
def test_a_workspace_has_a_time_zone_that_there_is(operator: Client, home: Workspace, zone: str) -> None:
    url = reverse("admin:accounts_workspace_change", args=[home.pk])
    fields = {"name": "Default", "slug": "default", "language": "en", "memberships-TOTAL_FORMS": "0"}
    fields["memberships-INITIAL_FORMS"] = "0"
    assert operator.post(url, {**fields, "time_zone": zone}).status_code == 200
    home.refresh_from_db()
    assert home.time_zone == "UTC"
    assert operator.post(url, {**fields, "time_zone": "Europe/Berlin"}).status_code == 302


def test_people_and_workspaces_are_not_deleted_by_hand(
    operator: Client, alice: User, home: Workspace
) -> None:
    for url in (
        reverse("admin:accounts_user_delete", args=[alice.pk]),
        reverse("admin:accounts_workspace_delete", args=[home.pk]),
    ):
        assert operator.post(url, {"post": "yes"}).status_code == 403
    assert User.objects.filter(pk=alice.pk).exists()


def test_jobs_can_be_cancelled_and_retried_but_not_edited(operator: Client) -> None:
    url = reverse("admin:jobs_job_changelist")
    job = Job.objects.create(kind="backfill", task="tests.jobs.sample_tasks.note")
    operator.post(url, {"action": "cancel", "_selected_action": [job.pk]})
    job.refresh_from_db()
    assert job.state == "cancelled"
    operator.post(url, {"action": "retry", "_selected_action": [job.pk]})
    assert Job.objects.filter(state="queued").count() == 1
    edited = operator.post(reverse("admin:jobs_job_change", args=[job.pk]), {"kind": "other"})
    assert edited.status_code == 403


def test_a_stranger_is_sent_to_the_login_page(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert client.get(reverse("admin:accounts_user_changelist")).status_code == 302

"""The jobs page: whose jobs it lists, what a person can do there, and what stored text can do in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.utils import timezone

from crewsite.dashboard.jobs import ERROR_SHOWN_CHARS, LIVE_JOBS, live_jobs
from crewsite.jobs.models import Job
from crewsite.jobs.services import heartbeat_put
from tests.dashboard.test_pages import HOSTILE, read, signed_in

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(django_user_model: Any) -> Client:
    return signed_in(django_user_model.objects.create_superuser("root", password="correct horse battery"))


def body(client: Client, address: str = "/jobs/") -> str:
    response = client.get(address)
    assert response.status_code == 200
    assert not read(response).inline
    return response.content.decode()


def test_it_needs_somebody() -> None:
    assert Client().get("/jobs/").status_code == 302
    assert Client().post("/jobs/1/cancel/").status_code == 302


def test_an_empty_page_says_what_will_be_there_and_that_no_worker_runs(bob: User) -> None:
    page = body(signed_in(bob))
    assert "No jobs yet" in page
    assert "No background worker" in page
    heartbeat_put(name="worker")
    assert "No background worker" not in body(signed_in(bob))


def test_a_member_sees_only_jobs_of_their_workspaces_and_no_buttons(
    bob: User, home: Workspace, other_home: Workspace
) -> None:
    Job.objects.create(kind="ours", workspace_id=home.pk)
    Job.objects.create(kind="of_the_site")
    Job.objects.create(kind="theirs", workspace_id=other_home.pk)
    page = body(signed_in(bob))
    assert "Ours" in page
    assert "Of the site" not in page
    assert "Theirs" not in page
    assert "data-act" not in page


def test_a_running_job_shows_its_progress_and_can_be_cancelled(alice: User, home: Workspace) -> None:
    job = Job.objects.create(kind="backfill", state="running", done=30, total=120, workspace_id=home.pk)
    client = signed_in(alice)
    page = body(client)
    assert 'max="100" value="25"' in page
    assert "30 of 120" in page
    client.post(f"/jobs/{job.pk}/cancel/")
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert "The job is cancelled." in body(client)


def test_an_error_is_folded_and_its_text_harmless(operator: Client) -> None:
    Job.objects.create(
        kind="x", state="failed", error=f"{HOSTILE}\n" + "y" * 5_000, message=HOSTILE, task="a.b"
    )
    page = body(operator)
    assert "<details" in page
    assert "<img src=x" not in page
    assert "y" * (ERROR_SHOWN_CHARS + 1) not in page


def test_a_count_is_said_only_where_it_says_something(operator: Client) -> None:
    Job.objects.create(
        kind="x", state="done", done=10, total=10, message="10 texts embedded", finished_at=timezone.now()
    )
    assert "10 of 10" not in body(operator)
    Job.objects.create(kind="x", state="cancelled", done=3, total=9, finished_at=timezone.now())
    page = body(operator)
    assert "3 of 9" in page
    assert "badge-warn" not in page


def test_the_first_line_of_an_error_is_cut_by_the_screen_and_not_before(operator: Client) -> None:
    Job.objects.create(kind="x", state="failed", error=f"{'refused ' * 30}in the end")
    assert "in the end</span></summary>" in body(operator)


def test_a_retry_without_a_script_comes_back_to_the_page(operator: Client) -> None:
    job = Job.objects.create(kind="x", state="failed", task="a.b")
    answer = operator.post(f"/jobs/{job.pk}/retry/")
    assert answer.headers["Location"] == "/jobs/"
    assert "Queued again as job" in body(operator)
    late = operator.post(f"/jobs/{job.pk}/retry/", headers={"X-Fragment": "1"})
    assert late.status_code == 409
    assert "cannot be retried" in late.json()["message"]


def test_acting_takes_the_right_role(bob: User, alice: User, charlie: User, home: Workspace) -> None:
    job = Job.objects.create(kind="x", workspace_id=home.pk)
    assert signed_in(charlie).post(f"/jobs/{job.pk}/cancel/").status_code == 404
    assert signed_in(bob).post(f"/jobs/{job.pk}/cancel/").status_code == 403
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    assert browser.post(f"/jobs/{job.pk}/cancel/").status_code == 403
    job.refresh_from_db()
    assert job.state == "queued"


def test_what_runs_is_shown_however_many_newer_jobs_have_ended(
    operator: Client, django_user_model: Any
) -> None:
    first = Job.objects.create(kind="long", state="running")
    Job.objects.bulk_create(Job(kind="x", state="done") for _ in range(LIVE_JOBS + 10))
    lines = live_jobs(django_user_model.objects.get(username="root"))
    assert lines[0].job.pk == first.pk
    assert len(lines) == LIVE_JOBS
    page = body(operator)
    assert f"?before={lines[-1].job.pk}" in page


def test_older_jobs_are_a_page_away(operator: Client) -> None:
    Job.objects.bulk_create(Job(kind="x", state="done") for _ in range(LIVE_JOBS + 5))
    last = Job.objects.all()[LIVE_JOBS - 1].pk
    assert f"?before={last}" in body(operator)
    older = body(operator, f"/jobs/?before={last}")
    assert older.count("data-job=") == 5
    assert "Newest" in older
    assert "data-job=" in body(operator, "/jobs/?before=99999999999999999999999")


def test_the_navigation_leads_to_it(bob: User) -> None:
    assert 'href="/jobs/"' in body(signed_in(bob), "/")


def test_jobs_are_filtered_by_kind_and_state_and_then_stand_still(bob: User, home: Workspace) -> None:
    Job.objects.create(kind="backfill", state="failed", workspace_id=home.pk)
    Job.objects.create(kind="backfill", state="done", workspace_id=home.pk)
    Job.objects.create(kind="distil", state="failed", workspace_id=home.pk)
    client = signed_in(bob)
    page = body(client, "/jobs/?kind=backfill&state=failed")
    assert page.count("data-job=") == 1
    assert "js/jobs.js" not in page
    assert "No such job" in body(client, "/jobs/?kind=distil&state=done")
    assert body(client, "/jobs/?kind=secret&state=odd").count("data-job=") == 3

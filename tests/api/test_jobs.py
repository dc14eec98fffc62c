"""Jobs over HTTP: who sees which, who may act, and what an act that comes too late is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from rest_framework.test import APIClient

from crewsite.accounts.services import token_create
from crewsite.jobs.models import Job

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db
Caller = Callable[[str], APIClient]


@pytest.fixture
def operator(db: None, django_user_model: Any) -> APIClient:
    client = APIClient()
    client.force_login(django_user_model.objects.create_superuser("root", password="correct horse battery"))
    return client


@pytest.fixture
def job(home: Workspace) -> Job:
    return Job.objects.create(kind="consolidate", task="a.b", workspace_id=home.pk, total=3)


def kinds(answer: Any) -> list[str]:
    return [row["kind"] for row in answer.json()["results"]]


@pytest.mark.parametrize("who", ["owner", "member", "viewer", "session", "read-only"])
def test_members_see_the_jobs_of_their_workspaces_and_nothing_else(
    caller: Caller, other_home: Workspace, job: Job, who: str
) -> None:
    site = Job.objects.create(kind="backfill")
    foreign = Job.objects.create(kind="foreign", workspace_id=other_home.pk)
    client = caller(who)
    assert kinds(client.get("/api/v1/jobs/")) == ["consolidate"]
    assert client.get(f"/api/v1/jobs/{job.pk}/").json()["workspace"] == "default"
    for hidden in (site, foreign):
        assert client.get(f"/api/v1/jobs/{hidden.pk}/").status_code == 404
        assert client.post(f"/api/v1/jobs/{hidden.pk}/cancel").status_code in {403, 404}
    assert not Job.objects.filter(state="cancelled").exists()


@pytest.mark.parametrize(
    ("who", "status"),
    [("stranger", 200), ("elsewhere", 200), ("write-only", 403), ("anonymous", 401), ("expired", 401)],
)
def test_nobody_else_sees_them(caller: Caller, job: Job, who: str, status: int) -> None:
    client = caller(who)
    answer = client.get("/api/v1/jobs/")
    assert answer.status_code == status
    if status == 200:
        assert kinds(answer) == []
        assert client.get(f"/api/v1/jobs/{job.pk}/").status_code == 404
        assert client.get("/api/v1/jobs/?workspace=default").status_code == 404


def test_an_operator_sees_all_and_a_token_bound_to_a_workspace_only_its_own(
    operator: APIClient, django_user_model: Any, job: Job, other_home: Workspace
) -> None:
    Job.objects.create(kind="backfill")
    Job.objects.create(kind="foreign", workspace_id=other_home.pk)
    assert kinds(operator.get("/api/v1/jobs/")) == ["foreign", "backfill", "consolidate"]
    root = django_user_model.objects.get(username="root")
    _, text = token_create(user=root, name="t", workspace=other_home)
    bound = APIClient()
    bound.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert kinds(bound.get("/api/v1/jobs/")) == ["foreign"]
    assert bound.post(f"/api/v1/jobs/{job.pk}/cancel").status_code == 404


@pytest.mark.parametrize(
    ("who", "status"),
    [
        ("owner", 200),
        ("session", 200),
        ("member", 403),
        ("viewer", 403),
        ("read-only", 403),
        ("stranger", 404),
    ],
)
def test_cancelling_takes_an_owner(caller: Caller, job: Job, who: str, status: int) -> None:
    answer = caller(who).post(f"/api/v1/jobs/{job.pk}/cancel")
    assert answer.status_code == status, answer.content
    job.refresh_from_db()
    assert job.state == ("cancelled" if status == 200 else "queued")
    if status != 200:
        assert answer["Content-Type"].startswith("application/problem+json")


def test_an_ended_job_is_a_conflict(caller: Caller, job: Job) -> None:
    client = caller("owner")
    client.post(f"/api/v1/jobs/{job.pk}/cancel")
    again = client.post(f"/api/v1/jobs/{job.pk}/cancel")
    assert (again.status_code, again.json()["code"]) == (409, "job_ended")


def test_a_retry_answers_the_new_job_and_a_second_one_is_a_conflict(caller: Caller, job: Job) -> None:
    client = caller("owner")
    assert client.post(f"/api/v1/jobs/{job.pk}/retry").status_code == 409
    client.post(f"/api/v1/jobs/{job.pk}/cancel")
    made = client.post(f"/api/v1/jobs/{job.pk}/retry")
    assert made.status_code == 201
    assert (made.json()["retry_of"], made.json()["state"], made.json()["can_cancel"]) == (
        job.pk,
        "queued",
        True,
    )
    old = client.get(f"/api/v1/jobs/{job.pk}/").json()
    assert (old["retried_as"], old["can_retry"]) == (made.json()["id"], False)
    assert client.post(f"/api/v1/jobs/{job.pk}/retry").json()["code"] == "not_retryable"


def test_members_are_not_offered_what_they_may_not_do(caller: Caller, job: Job) -> None:
    assert caller("member").get(f"/api/v1/jobs/{job.pk}/").json()["can_cancel"] is False
    assert caller("owner").get(f"/api/v1/jobs/{job.pk}/").json()["can_cancel"] is True


def test_lists_page_and_filter(operator: APIClient) -> None:
    Job.objects.bulk_create(Job(kind=f"k{at % 2}", state="done" if at % 3 else "failed") for at in range(12))
    page = operator.get("/api/v1/jobs/?limit=5").json()
    assert len(page["results"]) == 5
    seen = [row["id"] for row in page["results"]]
    while page["next"]:
        page = operator.get(page["next"]).json()
        seen += [row["id"] for row in page["results"]]
    assert seen == sorted(seen, reverse=True)
    assert len(set(seen)) == 12
    assert {row["state"] for row in operator.get("/api/v1/jobs/?state=failed").json()["results"]} == {
        "failed"
    }
    assert len(operator.get("/api/v1/jobs/?kind=k1&state=done").json()["results"]) == 4
    assert operator.get("/api/v1/jobs/?state=lost").status_code == 400
    assert operator.get("/api/v1/jobs/?colour=red").status_code == 400


def test_a_list_takes_as_many_queries_for_fifty_as_for_one(
    operator: APIClient, job: Job, django_assert_num_queries: Any
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    operator.get("/api/v1/jobs/")  # reads the live settings, which are kept for a second
    with CaptureQueriesContext(connection) as one:
        operator.get("/api/v1/jobs/")
    Job.objects.bulk_create(Job(kind="x", workspace_id=job.workspace_id) for _ in range(49))
    with django_assert_num_queries(len(one)):
        assert len(kinds(operator.get("/api/v1/jobs/"))) == 50


def test_an_id_of_any_size_is_only_not_found(operator: APIClient, alice: User) -> None:
    assert operator.get("/api/v1/jobs/99999999999999999999999999/").status_code == 404

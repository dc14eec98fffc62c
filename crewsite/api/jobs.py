"""Background jobs over HTTP: list, look, cancel, retry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.response import Response

from crewsite.accounts.jobs import job_rights, jobs_for
from crewsite.accounts.models import Workspace
from crewsite.api.base import PROBLEMS, CrewView, paged
from crewsite.api.errors import Conflict
from crewsite.api.lessons import NoFields
from crewsite.api.pagination import NewestFirst
from crewsite.api.serializers import PageQuery
from crewsite.jobs import services
from crewsite.jobs.models import Job

if TYPE_CHECKING:
    from rest_framework.request import Request


class JobQuery(PageQuery):
    state = serializers.ChoiceField(choices=Job.State.choices, required=False)
    kind = serializers.CharField(
        required=False, max_length=64, help_text="Exactly, e.g. embeddings_backfill."
    )


class JobRow(serializers.ModelSerializer[Job]):
    workspace = serializers.SerializerMethodField(help_text="Slug; null for work on the whole site.")
    retry_of = serializers.IntegerField(source="retry_of_id", allow_null=True)
    retried_as = serializers.IntegerField(allow_null=True, help_text="The job that runs this one again.")
    can_cancel = serializers.SerializerMethodField()
    can_retry = serializers.SerializerMethodField()

    class Meta:
        model = Job
        fields = [
            "id",
            "kind",
            "state",
            "done",
            "total",
            "message",
            "error",
            "workspace",
            "retry_of",
            "retried_as",
            "can_cancel",
            "can_retry",
            "created_at",
            "started_at",
            "heartbeat_at",
            "finished_at",
        ]

    def get_workspace(self, job: Job) -> str | None:
        slug: str | None = self.context["slugs"].get(job.workspace_id)
        return slug

    def get_can_cancel(self, job: Job) -> bool:
        return bool(job.is_active and self.context["rights"].may_act(job))

    def get_can_retry(self, job: Job) -> bool:
        is_free = job.is_retryable and getattr(job, "retried_as", None) is None
        return bool(is_free and self.context["rights"].may_act(job))


class JobView(CrewView):
    in_workspace = False  # a job names its own

    def visible(self) -> Any:
        return jobs_for(self.person, token=self.token).with_retry()

    def found(self, job_id: int) -> Job:
        job: Job | None = self.visible().filter(pk=job_id).first()
        if job is None:
            raise Http404
        return job

    def actable(self, job_id: int) -> Job:
        """404 for a stranger, 403 for a member who is no owner."""
        job = self.found(job_id)
        if not job_rights(self.person, token=self.token).may_act(job):
            raise PermissionDenied("It takes an owner of the workspace, or an operator.", code="role_too_low")
        return job

    def row(self, jobs: Job | list[Job], *, many: bool = False) -> Any:
        listed = jobs if isinstance(jobs, list) else [jobs]
        slugs = Workspace.objects.filter(pk__in={job.workspace_id for job in listed}).values_list(
            "pk", "slug"
        )
        context = {"rights": job_rights(self.person, token=self.token), "slugs": dict(slugs)}
        return JobRow(jobs, many=many, context=context).data


class Jobs(JobView):
    @extend_schema(
        operation_id="jobs_list",
        parameters=[JobQuery],
        responses={200: paged(JobRow), **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """The newest first: an operator sees all, others those of their workspaces."""
        query = self.query(JobQuery)
        rows = self.visible()
        if query["workspace"]:
            rows = rows.filter(workspace_id=self.named_workspace(query["workspace"]).pk)
        for name in ("state", "kind"):
            if name in query:
                rows = rows.filter(**{name: query[name]})
        paginator = NewestFirst()
        page = list(paginator.paginate_queryset(rows, request, view=self) or [])
        return paginator.get_paginated_response(self.row(page, many=True))


class JobDetail(JobView):
    @extend_schema(operation_id="jobs_retrieve", responses={200: JobRow, **PROBLEMS})
    def get(self, request: Request, job_id: int) -> Response:
        """How far a job is, or how it ended."""
        return Response(self.row(self.found(job_id)))


class JobCancel(JobView):
    @extend_schema(operation_id="jobs_cancel", request=NoFields, responses={200: JobRow, **PROBLEMS})
    def post(self, request: Request, job_id: int) -> Response:
        """A queued job never begins; a running one stops at its next step. 409 when it has ended."""
        if not services.job_cancel(self.actable(job_id)):
            raise Conflict("The job has ended already.", code="job_ended")
        return Response(self.row(self.found(job_id)))


class JobRetry(JobView):
    @extend_schema(operation_id="jobs_retry", request=NoFields, responses={201: JobRow, **PROBLEMS})
    def post(self, request: Request, job_id: int) -> Response:
        """Queue a failed or cancelled job again as a new one. 409 when it is neither, or was retried."""
        again = services.job_retry(self.actable(job_id))
        if again is None:
            raise Conflict("Only a failed or cancelled job can be retried, and once.", code="not_retryable")
        return Response(self.row(self.found(again.pk)), status=201)

"""Jobs, leases, heartbeats and the queue in admin: read-only, with cancel and retry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import django_q.admin  # noqa: F401  (registers its pages now, so that they can be replaced below)
from django.contrib import admin, messages
from django_q.models import Failure, OrmQ, Schedule, Success

from crewsite.jobs import services
from crewsite.jobs.models import Heartbeat, Job, Lease
from crewsite.rows_admin import OperatorOnlyMixin, ReadOnlyModelAdmin, pretty_json

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest


@admin.register(Job)
class JobAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["id", "kind", "state", "progress", "message", "created_at", "finished_at"]
    list_filter = ["state", "kind", "created_at"]
    search_fields = ["kind", "message", "error"]
    date_hierarchy = "created_at"
    exclude = ["detail", "args"]
    readonly_fields = ["arguments", "details"]
    actions = ["cancel", "retry"]

    @admin.display(description="Done")
    def progress(self, job: Job) -> str:
        return f"{job.done} of {job.total}" if job.total is not None else str(job.done)

    @admin.display(description="Arguments")
    def arguments(self, job: Job) -> str:
        return pretty_json(job.args)

    @admin.display(description="Detail")
    def details(self, job: Job) -> str:
        return pretty_json(job.detail)

    @admin.action(description="Cancel")
    def cancel(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        jobs = list(queryset)
        done = sum(services.job_cancel(job) for job in jobs)
        self._report(request, done, len(jobs), "cancelled", "had already ended")

    @admin.action(description="Retry")
    def retry(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        jobs = list(queryset)
        done = sum(services.job_retry(job) is not None for job in jobs)
        self._report(
            request,
            done,
            len(jobs),
            "queued again",
            "cannot be retried (not failed, no task, or done before)",
        )

    def _report(self, request: HttpRequest, done: int, asked: int, what: str, else_what: str) -> None:
        if done:
            self.message_user(request, f"{done} {what}.", messages.SUCCESS)
        if done < asked:
            self.message_user(request, f"{asked - done} {else_what}.", messages.WARNING)


@admin.register(Lease)
class LeaseAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["name", "note", "owner", "acquired_at", "expires_at"]
    search_fields = ["name", "owner"]


@admin.register(Heartbeat)
class HeartbeatAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["name", "at", "detail"]


# The queue's rows are the queue's: schedules come from code, and a queued payload is not for editing.
admin.site.unregister([Schedule, Success, Failure, *([OrmQ] if admin.site.is_registered(OrmQ) else [])])


@admin.register(Schedule)
class ScheduleAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["name", "func", "schedule_type", "minutes", "cron", "next_run"]


@admin.register(Success)
class SuccessAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["func", "group", "started", "stopped"]
    list_filter = ["func"]
    fields = ["func", "group", "cluster", "started", "stopped", "attempt_count"]


@admin.register(Failure)
class FailureAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["func", "group", "started", "stopped", "attempt_count"]
    list_filter = ["func"]
    fields = ["func", "group", "cluster", "started", "stopped", "attempt_count", "result"]

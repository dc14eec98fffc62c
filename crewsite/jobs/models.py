"""Rows of long work: what runs, how far it is, and who holds which lease."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone


class JobQuerySet(models.QuerySet["Job"]):
    def active(self) -> JobQuerySet:
        return self.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])

    def of_kind(self, kind: str) -> JobQuerySet:
        return self.filter(kind=kind)

    def with_retry(self) -> JobQuerySet:
        """Each with `retried_as`: the id of the job that runs it again, or None."""
        return self.annotate(
            retried_as=models.Subquery(Job.objects.filter(retry_of=models.OuterRef("pk")).values("pk")[:1])
        )


class Job(models.Model):
    """One run of background work. `done` of `total` units; a dead worker is seen by its stale heartbeat."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.CharField(max_length=64, help_text="For example embeddings_backfill or model_install.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED)
    task = models.CharField(max_length=200, blank=True, help_text="Dotted path that a retry queues again.")
    args = models.JSONField(default=list, blank=True, help_text="Ids and plain values the task takes.")
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True, blank=True)
    detail = models.JSONField(
        default=dict, blank=True, help_text="State of the kind itself, such as a download's step."
    )
    workspace_id = models.BigIntegerField(
        null=True, blank=True, help_text="Id of the workspace it works for. Empty: the whole site."
    )
    retry_of = models.OneToOneField(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="retried_by",
        help_text="The failed or cancelled job that this one runs again; each is retried once.",
    )
    message = models.CharField(max_length=300, blank=True)
    error = models.TextField(blank=True)
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["state", "kind"], name="jobs_job_state"),
            models.Index(fields=["kind", "-id"], name="jobs_job_kind"),
            models.Index(fields=["workspace_id", "-id"], name="jobs_job_workspace"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.pk} ({self.state})"

    @property
    def is_active(self) -> bool:
        return self.state in {Job.State.QUEUED, Job.State.RUNNING}

    @property
    def is_retryable(self) -> bool:
        """Whether a retry makes sense: it ended short of its goal and names what to run."""
        return self.state in {Job.State.FAILED, Job.State.CANCELLED} and bool(self.task)


class Lease(models.Model):
    """An exclusive, expiring claim on a name, shared by all processes."""

    name = models.CharField(max_length=200, unique=True)
    owner = models.CharField(max_length=100)
    expires_at = models.DateTimeField(db_index=True)
    acquired_at = models.DateTimeField(default=timezone.now)
    code = models.CharField(max_length=32, blank=True, help_text="Why it is held, for programs.")
    note = models.CharField(max_length=200, blank=True, help_text="Why it is held, for people.")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name} held by {self.owner}"


class Heartbeat(models.Model):
    """Last sign of life of a process kind, so that a page can say whether a worker runs."""

    name = models.CharField(max_length=64, unique=True, help_text="worker or schedule")
    at = models.DateTimeField(default=timezone.now)
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class StoreState(models.Model):
    """One row: the number that changes whenever the rows were replaced under the running processes."""

    generation = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"generation {self.generation}"

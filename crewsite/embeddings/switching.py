"""Switching the embedding model: load the candidate, fill its space while the old one serves, then let it
take over. Every failure leaves the old model in force, and what was embedded for another try."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from crewsite.embeddings import selection, service
from crewsite.embeddings.constants import (
    MODEL_READY_SECONDS,
    SWITCH_BATCH,
    SWITCH_LEASE,
    SWITCH_LEASE_SECONDS,
)
from crewsite.embeddings.errors import ModelUnusable, SwitchConflict
from crewsite.embeddings.services import (
    SWITCH_KIND,
    SWITCH_TASK,
    model_check,
    model_path,
    refuse_switch,
)
from crewsite.embeddings.spaces import space_abandon, space_activate, space_build
from crewsite.embeddings.vectors import VectorItem, vectors_put_in
from crewsite.jobs.leases import lease_renew, leased
from crewsite.jobs.services import job_progress, job_run
from crewsite.security.text import number_of

if TYPE_CHECKING:
    from crewsite.embeddings.models import Space
    from crewsite.embeddings.protocol import EmbeddingBackend, FloatVector
    from crewsite.jobs.models import Job, Lease


def model_switch(model: str) -> dict[str, Any]:
    """Runs to the end, in a worker or a command; the job row says how far it is.

    Raises ModelUnusable or SwitchConflict with the old model in force.
    """
    path = model_path(model)
    refuse_switch()
    with leased(SWITCH_LEASE, SWITCH_LEASE_SECONDS) as lease:
        if lease is None:
            raise SwitchConflict("Another model is being switched to. Wait for it.", code="switch_running")
        with job_run(SWITCH_KIND, task=SWITCH_TASK, args=[str(path)]) as job:
            return _Switch(path, job, lease).run()
    return {"skipped": "it was cancelled"}


class _Switch:
    """One switch under way."""

    def __init__(self, path: Path, job: Job, lease: Lease) -> None:
        self.path, self.job, self.lease = path, job, lease
        self.embedded = 0

    def run(self) -> dict[str, Any]:
        self.say(0, 0, "checking the file")
        model_check(model=str(self.path))
        self.say(0, 0, "loading the model")
        candidate = selection.backend_of(self.path)
        try:
            if not candidate.wait_ready(MODEL_READY_SECONDS):
                raise ModelUnusable(candidate.error or "It did not get ready in time.", code="model_unusable")
            space = space_build(signature=candidate.signature, model_id=candidate.model_id, dim=candidate.dim)
            try:
                self.fill(space, candidate)
                self.take_over(space)
            except BaseException:
                space_abandon(space)
                raise
        except BaseException:
            candidate.close()
            raise
        service.adopt(candidate)
        self.fill(space, candidate)  # what was written between the last look and the take-over
        return {
            "model_id": space.model_id,
            "dim": space.dim,
            "path": str(self.path),
            "embedded": self.embedded,
        }

    def take_over(self, space: Space) -> None:
        before = selection.chosen_path()
        selection.choice_put(self.path)
        try:
            space_activate(signature=space.signature, model_id=space.model_id, dim=space.dim)
        except BaseException:
            selection.choice_put(before)
            raise

    def fill(self, space: Space, candidate: EmbeddingBackend) -> None:
        """Until a look finds nothing to embed, as rows are written meanwhile. What has no vector is left."""
        while self.fill_once(space, candidate):
            pass

    def fill_once(self, space: Space, candidate: EmbeddingBackend) -> int:
        missing = import_string(settings.EMBEDDING_TEXTS)(space)
        total = self.embedded + missing.count()
        before, after_id = self.embedded, 0
        while batch := list(missing.filter(pk__gt=after_id).order_by("pk")[:SWITCH_BATCH]):
            after_id = batch[-1].pk
            vectors = candidate.embed_batch([row.text for row in batch])
            self.embedded += _store(space, candidate.signature, batch, vectors)
            self.say(self.embedded, max(total, self.embedded), "embedding")
            if not lease_renew(self.lease, seconds=SWITCH_LEASE_SECONDS):
                raise SwitchConflict("Another process took the switch over.", code="switch_running")
        return self.embedded - before

    def say(self, done: int, total: int, step: str) -> None:
        told = f"{done} of {number_of(total, 'text')} embedded" if total else step
        job_progress(self.job, done=done, total=total or None, message=told)


def _store(space: Space, signature: str, batch: list[Any], vectors: list[FloatVector | None]) -> int:
    with transaction.atomic():
        # A text may have been changed or deleted while it was embedded; its vector is then of no use.
        rows = type(batch[0]).objects.select_for_update().filter(pk__in=[row.pk for row in batch])
        current = dict(rows.values_list("pk", "text_hash"))
        items = [
            VectorItem(row.collection, row.object_id, row.text_hash, service.Embedding(signature, vector))
            for row, vector in zip(batch, vectors, strict=True)
            if vector is not None and current.get(row.pk) == row.text_hash
        ]
        return vectors_put_in(space.pk, items) if items else 0

"""Giving every document a vector of the active space, in batches that can be stopped and taken up at any
point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models, transaction
from django.db.models import Exists, OuterRef

from crewsite.embeddings.models import Space, Vector
from crewsite.embeddings.service import embed_documents
from crewsite.embeddings.spaces import active_space
from crewsite.embeddings.vectors import VectorItem, vectors_put_many
from crewsite.search.constants import BACKFILL_BATCH, BACKFILL_LEASE_SECONDS
from crewsite.search.models import Document
from crewsite.security.text import number_of

if TYPE_CHECKING:
    from crewsite.embeddings.service import Embedding
    from crewsite.jobs.models import Job, Lease

JOB_KIND = "embeddings_backfill"
TASK = "crewsite.search.tasks.embeddings_backfill"


def documents_without_vector(space: Space) -> models.QuerySet[Document, Document]:
    """Documents that have no vector of their present text in this space."""
    current = Vector.objects.filter(
        space=space,
        collection=OuterRef("collection"),
        object_id=OuterRef("object_id"),
        text_hash=OuterRef("text_hash"),
        data__isnull=False,
    )
    return Document.objects.filter(~Exists(current))


def backfill(lease: Lease) -> dict[str, Any]:
    """Embed what has no vector, with a job row for its progress when there is anything to do.

    Call it with a ready embedder and while holding the lease that keeps it from running twice.
    """
    from crewsite.jobs.services import job_run

    space = active_space()
    missing = documents_without_vector(space).count() if space is not None else 0
    if space is None or not missing:
        return {"missing": 0, "embedded": 0}
    embedded = 0
    with job_run(JOB_KIND, task=TASK, total=missing) as job:
        embedded = _run(space, job, lease)
    return {"missing": missing, "embedded": embedded}


def _run(space: Space, job: Job, lease: Lease) -> int:
    """Goes through the documents once: a text that cannot be embedded is tried again by the next run, not by
    this one.
    """
    from crewsite.jobs.leases import lease_renew
    from crewsite.jobs.services import job_progress

    embedded = seen = after_id = 0
    while batch := list(
        documents_without_vector(space).filter(pk__gt=after_id).order_by("pk")[:BACKFILL_BATCH]
    ):
        after_id = batch[-1].pk
        embedded += _embed(batch)
        seen += len(batch)
        job_progress(
            job,
            done=embedded,
            total=max(job.total or 0, seen),
            message=f"{number_of(embedded, 'text')} embedded",
        )
        if not lease_renew(lease, seconds=BACKFILL_LEASE_SECONDS):
            break
    return embedded


def _embed(batch: list[Document]) -> int:
    made = embed_documents([document.text for document in batch])
    pairs = [
        (document, embedding)
        for document, embedding in zip(batch, made, strict=True)
        if embedding is not None
    ]
    return _store(pairs) if pairs else 0


def _store(pairs: list[tuple[Document, Embedding]]) -> int:
    with transaction.atomic():
        # A text may have been changed or deleted while it was embedded; its vector is then of no use.
        current = dict(
            Document.objects.select_for_update()
            .filter(pk__in=[document.pk for document, _ in pairs])
            .values_list("pk", "text_hash")
        )
        return vectors_put_many(
            [
                VectorItem(document.collection, document.object_id, document.text_hash, embedding)
                for document, embedding in pairs
                if current.get(document.pk) == document.text_hash
            ]
        )

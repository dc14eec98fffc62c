"""What `crew embeddings status` and status pages show about the embedder and its spaces, as plain data."""

from __future__ import annotations

from typing import TypedDict

from django.db.models import Count, Q

from crewsite.embeddings.failures import failure_counts
from crewsite.embeddings.models import Space
from crewsite.embeddings.service import embedder_status, get_embedder


class SpaceReport(TypedDict):
    signature: str
    model_id: str
    dim: int
    status: str
    vectors: int


class EmbedderReport(TypedDict):
    state: str
    model_id: str
    dim: int
    signature: str
    error: str
    failures: dict[str, int]
    spaces: list[SpaceReport]


def embedder_report() -> EmbedderReport:
    """State of this process's embedder, its failures since it started, and the vectors of every space."""
    status = embedder_status()
    counted = Space.objects.annotate(live=Count("vectors", filter=Q(vectors__data__isnull=False)))
    return {
        "state": status.state,
        "model_id": status.model_id,
        "dim": status.dim,
        "signature": get_embedder().signature,
        "error": status.error,
        "failures": failure_counts(),
        "spaces": [
            {
                "signature": space.signature,
                "model_id": space.model_id,
                "dim": space.dim,
                "status": space.status,
                "vectors": space.live,
            }
            for space in counted
        ],
    }

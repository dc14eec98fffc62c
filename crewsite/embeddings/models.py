"""Spaces and vectors. These rows are the truth; index files are projections that can be deleted at any
time."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone


class Space(models.Model):
    """All vectors of one model in one prompt style. Vectors of two spaces never meet in one search."""

    class Status(models.TextChoices):
        BUILDING = "building"
        ACTIVE = "active"
        RETIRED = "retired"

    signature = models.CharField(
        max_length=200, unique=True, help_text="Model id, file hash and prompt style."
    )
    model_id = models.CharField(max_length=100)
    dim = models.PositiveIntegerField()
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.BUILDING)
    last_seq = models.BigIntegerField(
        default=0, help_text="Highest sequence number given to a vector of this space."
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["status"], condition=Q(status="active"), name="embeddings_one_active_space"
            )
        ]

    def __str__(self) -> str:
        return f"{self.model_id} ({self.dim}, {self.status})"


class Vector(models.Model):
    """One object's vector, float16, L2-normalised. `data` NULL is a tombstone that tells every process to
    drop it.

    `seq` grows with every change inside a space and is taken from `Space.last_seq` under that row's lock,
    so a reader that has seen seq n has seen all below n.
    """

    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="vectors")
    collection = models.CharField(max_length=80)
    object_id = models.BigIntegerField()
    text_hash = models.CharField(max_length=32)
    data = models.BinaryField(null=True)
    seq = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["space", "collection", "object_id"], name="embeddings_vector_unique"
            ),
        ]
        indexes = [models.Index(fields=["space", "collection", "seq"], name="embeddings_vector_seq")]

    def __str__(self) -> str:
        return f"{self.collection}#{self.object_id}"

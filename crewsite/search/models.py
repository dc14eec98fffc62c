"""The searchable text of every object, one row each: what keyword tables index and the backfill embeds."""

from __future__ import annotations

from django.db import models


class Document(models.Model):
    """A projection of a memory row: `collection` is kind and owner, for example `episodic:1`."""

    collection = models.CharField(max_length=80)
    object_id = models.BigIntegerField()
    text = models.TextField()
    text_hash = models.CharField(max_length=32)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["collection", "object_id"], name="search_document_unique")]

    def __str__(self) -> str:
        return f"{self.collection}#{self.object_id}"

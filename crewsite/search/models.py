"""The searchable text of every object, one row each: what keyword tables index and the backfill embeds."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from crewsite.search.constants import OBJECT_ID_BITS


class Collection(models.Model):
    """Kind and owner of documents, for example `episodic:1`. Its number is the upper part of its documents'
    ids.
    """

    name = models.CharField(max_length=80, unique=True)
    fold = models.CharField(max_length=20, blank=True, help_text="In which way its documents are folded.")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Document(models.Model):
    """A projection of a memory row.

    The id is collection number and object id in one number, so that every collection is one range of ids:
    keyword tables and scans are bounded by that range and never meet another collection's rows.
    """

    id = models.BigIntegerField(primary_key=True)
    collection = models.CharField(max_length=80)
    object_id = models.BigIntegerField()
    unspaced = models.BooleanField(default=False, help_text="Has text of a script that writes no spaces.")
    text_hash = models.CharField(max_length=32)
    text = models.TextField()
    folded = models.TextField(help_text="The text as keyword search compares it.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["collection", "object_id"], name="search_document_unique")
        ]
        indexes = [models.Index(fields=["id"], condition=Q(unspaced=True), name="search_document_unspaced")]

    def __str__(self) -> str:
        return f"{self.collection}#{self.object_id}"


def document_id(collection: Collection | int, object_id: int) -> int:
    """The id of a document. Raises ValueError when the object id does not fit its part of the number."""
    number = collection if isinstance(collection, int) else collection.pk
    if not 0 <= object_id < 1 << OBJECT_ID_BITS:
        raise ValueError(f"Object id {object_id} does not fit {OBJECT_ID_BITS} bits.")
    return (number << OBJECT_ID_BITS) | object_id


def document_range(number: int) -> tuple[int, int]:
    """First and last id a collection's documents can have."""
    first = number << OBJECT_ID_BITS
    return first, first + (1 << OBJECT_ID_BITS) - 1


def documents_of(collection: str) -> models.QuerySet[Document, Any]:
    return Document.objects.filter(collection=collection)

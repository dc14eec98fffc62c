"""Which space vectors belong to now. Opening a space for a new model happens here; filling it is the
backfill's work."""

from __future__ import annotations

import logging

from django.db import IntegrityError, transaction

from crewsite.embeddings.models import Space
from crewsite.embeddings.service import follow_choice, get_embedder

logger = logging.getLogger(__name__)


def active_space() -> Space | None:
    """The space writes go to and searches read. `None` only before any model was ever ready.

    When the running model is not the active space's, its own space is activated and the other retired with
    its vectors kept, so that going back costs only what was written in between. A process that still runs the
    model of before a switch takes up the chosen one instead.
    """
    space = Space.objects.filter(status=Space.Status.ACTIVE).first()
    backend = get_embedder()
    signature = backend.signature if backend.is_ready() else ""
    if not signature or (space is not None and space.signature == signature):
        return space
    if space is not None and follow_choice():
        return space
    try:
        return space_activate(signature=signature, model_id=backend.model_id, dim=backend.dim)
    except IntegrityError:
        # Another process activated a space in the same moment: the database let one through, and that one
        # counts.
        return Space.objects.filter(status=Space.Status.ACTIVE).first()


def space_build(*, signature: str, model_id: str, dim: int) -> Space:
    """The space of a model that is to take over; vectors it has from before are kept."""
    space, is_new = Space.objects.get_or_create(
        signature=signature, defaults={"model_id": model_id, "dim": dim}
    )
    if not is_new and space.status == Space.Status.RETIRED:
        space.status = Space.Status.BUILDING
        space.save(update_fields=["status"])
    return space


def space_abandon(space: Space) -> None:
    """What was built stays, so that another try goes on from there."""
    Space.objects.filter(pk=space.pk, status=Space.Status.BUILDING).update(status=Space.Status.RETIRED)


def space_activate(*, signature: str, model_id: str, dim: int) -> Space:
    """Raises IntegrityError when another process activates a space in the same moment."""
    with transaction.atomic():
        space, _ = Space.objects.get_or_create(
            signature=signature, defaults={"model_id": model_id, "dim": dim, "status": Space.Status.BUILDING}
        )
        retired = Space.objects.filter(status=Space.Status.ACTIVE).exclude(pk=space.pk)
        for old in retired:
            logger.warning("The embedding model changed: %s is retired for %s.", old.signature, signature)
        retired.update(status=Space.Status.RETIRED)
        Space.objects.filter(pk=space.pk).update(status=Space.Status.ACTIVE)
    space.status = Space.Status.ACTIVE
    return space

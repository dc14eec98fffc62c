"""Putting documents and keyword rows back in step with the rows they project, after an import or a fault.

Searches never start this: a question with no answer is no sign of a fault.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import models, transaction

from crewsite.search.constants import RECONCILE_BATCH
from crewsite.search.documents import delete_many, put_many, refold, text_hash
from crewsite.search.keyword import keyword_index
from crewsite.search.kinds import SearchKind, live_documents, search_kinds
from crewsite.search.models import Document
from crewsite.security.text import number_of

logger = logging.getLogger(__name__)

Page = Sequence[tuple[int, str, str]]


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What was put right. `rebuilt`: the keyword tables were made anew."""

    put: int = 0
    removed: int = 0
    rebuilt: bool = False


def reconcile(*, force: bool = False) -> Reconciled:
    """Compare every kind whose counts differ, or all with `force`, and make the keyword index anew if it is
    out of step.
    """
    put = removed = 0
    for kind in search_kinds():
        if force or is_stale(kind):
            put += _put_missing(kind)
            removed += _remove_extra(kind)
    if put or removed:
        logger.info("The search documents were put right: %d written, %d removed.", put, removed)
    return Reconciled(put, removed, keyword_rebuild(force=force))


def is_stale(kind: SearchKind) -> bool:
    return kind.count() != _documents_of(kind).count()


def keyword_rebuild(*, force: bool = False) -> bool:
    """Make the keyword index anew if its counts differ from the documents', or in any case with `force`.
    Documents that an older version folded are folded anew before.
    """
    if refolded := refold():
        logger.info("%s folded anew for keyword search.", number_of(refolded, "text"))
    index = keyword_index()
    if not force and index.is_in_step():
        return False
    with transaction.atomic(savepoint=False):
        # Looked at again while nobody writes: two counts of a moment apart may differ for no fault.
        if not force and index.is_in_step():
            return False
        index.rebuild()
    return True


def _documents_of(kind: SearchKind) -> models.QuerySet[Document, Document]:
    return Document.objects.filter(collection__startswith=f"{kind.name}:")


def _put_missing(kind: SearchKind) -> int:
    written = 0
    after_id = 0
    while page := kind.documents(after_id, RECONCILE_BATCH):
        if _outdated(page):
            with transaction.atomic():
                # Read again under the write lock: what was read before may have changed since.
                fresh = _outdated(kind.documents(after_id, RECONCILE_BATCH))
                for collection in dict.fromkeys(row[1] for row in fresh):
                    put_many(collection, [(row[0], row[2]) for row in fresh if row[1] == collection])
                written += len(fresh)
        after_id = page[-1][0]
    return written


def _outdated(page: Page) -> list[tuple[int, str, str]]:
    """Rows of a page whose document is missing or has another text."""
    if not page:
        return []
    documents = Document.objects.filter(
        collection__in={row[1] for row in page}, object_id__range=(page[0][0], page[-1][0])
    )
    known = {
        (collection, object_id): known_hash
        for collection, object_id, known_hash in documents.values_list("collection", "object_id", "text_hash")
    }
    return [row for row in page if known.get((row[1], row[0])) != text_hash(row[2])]


def _remove_extra(kind: SearchKind) -> int:
    live = {(collection, object_id) for object_id, collection, _ in live_documents(kind)}
    extra = [
        key
        for key in _documents_of(kind).values_list("collection", "object_id").iterator()
        if key not in live
    ]
    removed = 0
    for collection, object_id in extra:
        with transaction.atomic():
            first = kind.documents(object_id - 1, 1)
            if not first or (first[0][1], first[0][0]) != (collection, object_id):
                removed += delete_many(collection, [object_id])
    return removed

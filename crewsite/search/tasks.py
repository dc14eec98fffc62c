"""Background work of the search index. Each task may run at any time and any number of times; a lease keeps
it single.
"""

from __future__ import annotations

import logging
import shutil
from typing import Any

from crewsite.search.backfill import TASK as BACKFILL_TASK
from crewsite.search.constants import (
    BACKFILL_LEASE_SECONDS,
    BACKFILL_WAIT_SECONDS,
    INDEX_WRITE_LEASE_SECONDS,
    RECONCILE_LEASE_SECONDS,
)

logger = logging.getLogger(__name__)

INDEX_WRITE_TASK = "crewsite.search.tasks.index_write"
RECONCILE_TASK = "crewsite.search.tasks.search_reconcile"


def worker_started() -> None:
    """Look over documents and vectors when a worker starts: what happened while none ran is caught up
    with.
    """
    from crewsite.jobs.queue import enqueue

    enqueue(RECONCILE_TASK)
    enqueue(BACKFILL_TASK)


def embeddings_backfill() -> dict[str, Any]:
    """Embed every document that has no vector of the active model. Without an installed model there is
    nothing to do.
    """
    from crewsite.embeddings.service import embedder_status, get_embedder
    from crewsite.jobs.leases import leased
    from crewsite.jobs.queue import enqueue
    from crewsite.search.backfill import backfill

    if embedder_status().state == "absent":
        return {"skipped": "no embedding model is installed"}
    with leased("embeddings_backfill", BACKFILL_LEASE_SECONDS + BACKFILL_WAIT_SECONDS) as lease:
        if lease is None:
            return {"skipped": "it is running already"}
        if not get_embedder().wait_ready(BACKFILL_WAIT_SECONDS):
            return {"skipped": "the embedding model did not get ready"}
        result = backfill(lease)
    if result["embedded"]:
        enqueue(INDEX_WRITE_TASK)
    return result


def index_write() -> dict[str, int]:
    """Write base files of large collections that have changed much, remove those of retired spaces, and join
    the pieces of the keyword index. A file that cannot be written does not keep the others: the task fails
    at its end, and names them.
    """
    from crewsite.jobs.leases import leased
    from crewsite.search.keyword import keyword_index
    from crewsite.search.vector_index.base import has_faiss
    from crewsite.search.vector_index.registry import base_refresh, collections_of, is_base_due
    from crewsite.search.vector_index.rows import active_state

    keyword_index().merge()
    state = active_state("")
    if state is None or not has_faiss():
        return {}
    space = state[0]
    written: dict[str, int] = {}
    failed: list[Exception] = []
    for collection, rows in collections_of(space.id).items():
        with leased(f"index:{space.id}:{collection}", INDEX_WRITE_LEASE_SECONDS) as lease:
            if lease is not None and is_base_due(space, collection, rows):
                try:
                    written[collection] = base_refresh(space, collection)
                except (OSError, RuntimeError) as error:  # faiss raises the latter
                    logger.error("The index file of %s could not be written: %s", collection, error)
                    error.add_note(f"while the index file of {collection} was written")
                    failed.append(error)
    _remove_retired(space.id)
    if failed:
        raise ExceptionGroup("Index files could not be written", failed)
    return written


def search_reconcile() -> dict[str, Any]:
    """Put documents and keyword rows back in step with the rows if their counts differ."""
    from crewsite.jobs.leases import leased
    from crewsite.jobs.queue import enqueue
    from crewsite.search.reconcile import reconcile

    with leased("search_reconcile", RECONCILE_LEASE_SECONDS) as lease:
        if lease is None:
            return {"skipped": "it is running already"}
        done = reconcile()
    if done.put:
        enqueue(BACKFILL_TASK)
    return {"put": done.put, "removed": done.removed, "rebuilt": done.rebuilt}


def _remove_retired(active_id: int) -> None:
    """Index files of other spaces: they are projections and are written again if their space comes back."""
    from crewsite.search.vector_index.base_file import index_folder

    folder = index_folder()
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.is_dir() and entry.name.isdigit() and entry.name != str(active_id):
            shutil.rmtree(entry, ignore_errors=True)

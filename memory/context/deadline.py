"""One wait for the embedder per context build: past it the build goes on with keywords."""

from __future__ import annotations

import threading

from memory.context.constants import EMBEDDING_DEADLINE_SECONDS


def embedded_in_time(*texts: str, seconds: float = EMBEDDING_DEADLINE_SECONDS) -> bool:
    """Embeds the questions ahead of the searches, which then find them in the cache. False when time ran out.

    No vector because no embedder is ready counts as in time: the searches say so themselves.
    """
    from crewsite.embeddings.service import embed_query

    if not texts:
        return True
    # A thread of its own: the embedder's pool may be what is stuck. As a daemon it does not hold up a
    # shutdown.
    worker = threading.Thread(
        target=lambda: [embed_query(text) for text in texts], name="context-embed", daemon=True
    )
    worker.start()
    worker.join(seconds)
    return not worker.is_alive()

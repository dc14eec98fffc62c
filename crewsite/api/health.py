"""Whether the site can serve, and what it must do without. The API, `crew status` and pages read this."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from django.db import DatabaseError, connection

from crewsite.jobs import selectors
from crewsite.jobs.storage import storage_limits
from crewsite.jobs.store import maintenance_now

logger = logging.getLogger(__name__)

# What each state of a part means for people, in the words of every `degraded` list.
EMBEDDER_CODES: Final = {
    "absent": "embedder_unavailable",
    "failed": "embedder_unavailable",
    "loading": "embedder_loading",
}
LLM_CODES: Final = {"absent": "llm_not_configured", "failing": "llm_unreachable"}


def readiness() -> dict[str, Any]:
    """`embedder`, `index`, `database`, `llm`, `worker`, and `degraded`: a code for each thing that is amiss.

    Never raises: a part that cannot be asked is `failed`. Without a database nothing else is asked.
    """
    database = _database()
    if database["state"] != "ready":
        return {
            "embedder": _embedder(),
            "index": {"state": "unknown"},
            "database": database,
            "llm": _part(_llm),
            "worker": {"state": "unknown", "seen_at": None},
            "degraded": ["database_unavailable"],
        }
    embedder, index, llm, worker = _embedder(), _part(_index), _part(_llm), _part(_worker)
    codes = [
        EMBEDDER_CODES.get(embedder["state"], ""),
        "index_failed" if index["state"] == "failed" else "",
        *index.get("degraded", ()),
        LLM_CODES.get(llm["state"], ""),
        "worker_absent" if worker["state"] != "alive" else "",
        "maintenance" if maintenance_now() is not None else "",
        *storage_limits(),
    ]
    return {
        "embedder": embedder,
        "index": index,
        "database": database,
        "llm": llm,
        "worker": worker,
        "degraded": list(dict.fromkeys(code for code in codes if code)),
    }


def _part(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return ask()
    except Exception as error:
        logger.exception("A part of the site could not say how it is.")
        return {"state": "failed", "error": type(error).__name__}


def _database() -> dict[str, Any]:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        logger.error("The database does not answer: %s", error)
        return {"state": "unavailable", "engine": connection.vendor}
    return {"state": "ready", "engine": connection.vendor}


def _embedder() -> dict[str, Any]:
    def ask() -> dict[str, Any]:
        from crewsite.embeddings.service import embedder_status

        return asdict(embedder_status())

    return {"model_id": "", "dim": 0, **_part(ask)}


def _index() -> dict[str, Any]:
    from crewsite.search.service import search_status

    return search_status()


def _llm() -> dict[str, Any]:
    from crewsite.llm.providers import llm_status

    return llm_status()


def _worker() -> dict[str, Any]:
    seen = selectors.worker_seen()
    return {
        "state": "alive" if selectors.worker_is_alive() else "absent",
        "seen_at": seen.isoformat(timespec="seconds") if seen else None,
        "schedules": "running" if selectors.schedule_is_alive() else "waiting",
    }

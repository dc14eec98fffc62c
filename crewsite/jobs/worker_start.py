"""What happens as a worker process starts: a thread that says it lives, and what other apps registered."""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
from typing import Any

from django.conf import settings
from django.db import close_old_connections, connection
from django.utils.module_loading import import_string

from crewsite.jobs.constants import WORKER_BEAT_SECONDS
from crewsite.jobs.services import heartbeat_put

logger = logging.getLogger(__name__)


def on_spawn(**_: Any) -> None:
    """django-q2's `post_spawn`. A task run in place, without a worker process, starts nothing."""
    if multiprocessing.parent_process() is not None:
        start()


def start() -> None:
    threading.Thread(target=beat, name="worker-beat", daemon=True).start()
    for path in settings.CREW_WORKER_START:
        try:
            import_string(path)()
        except Exception:
            logger.exception("Worker start function %s failed.", path)


def beat(stop: threading.Event | None = None, seconds: float = WORKER_BEAT_SECONDS) -> None:
    """Say every half minute that this process lives, whatever its task is doing. Ends when `stop` is set."""
    stop = stop or threading.Event()
    while True:
        try:
            close_old_connections()
            heartbeat_put(name="worker", detail={"pid": os.getpid()})
        except Exception:
            logger.exception("The worker could not write its heartbeat.")
        finally:
            connection.close()
        if stop.wait(seconds):
            return

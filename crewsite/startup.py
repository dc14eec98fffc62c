"""What the web process does once before it serves: refuse to run unsafely, close turns a dead process left
open, and load the embedder and the model library in the background."""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, connection

from crewsite.checks import refuse_unsafe_start
from crewsite.security.text import number_of

logger = logging.getLogger(__name__)


def start_serving() -> None:
    """Exits with 78 when a security check fails; everything else happens in the background."""
    refuse_unsafe_start()
    threading.Thread(target=_in_background, name="startup", daemon=True).start()


def _in_background() -> None:
    from crewsite.chat.producing import load_agent
    from crewsite.chat.services import turns_interrupt
    from crewsite.embeddings.service import start_loading
    from crewsite.jobs.errors import MaintenanceInProgress
    from crewsite.llm.targets import targets

    has_model = False
    try:
        has_model = bool(targets())
        interrupted = turns_interrupt()
        if interrupted:
            logger.info("%s cut off by the last stop can be tried again.", number_of(interrupted, "answer"))
    except MaintenanceInProgress as refusal:
        logger.info("%s", refusal)
    except DatabaseError:
        logger.warning("The database is not ready; run `crew migrate`.")
    finally:
        connection.close()
    start_loading()
    if has_model:
        load_agent()

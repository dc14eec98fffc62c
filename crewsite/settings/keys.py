"""The site's secret key: from the environment, or made once and kept in `CREW_HOME/keys/`."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from crewsite.settings.env import env_str

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
    path = home / "keys" / "secret.key"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if not path.exists():
        # Written whole under another name and linked into place: of two first starts one wins, and none
        # reads half a key.
        draft = path.with_name(f"secret.key.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(KEY_BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()

"""Which web pages may open a websocket with a person's session: scheme, host and port must all be ours."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
LOOPBACK_HOSTS: Final = ("localhost", "127.0.0.1", "::1")

Triple = tuple[str, str, int]


def origin_allowed(origin: str) -> bool:
    """Whether an `Origin` header names `CREW_PUBLIC_URL` or one of `CREW_ALLOWED_ORIGINS`.

    In development any loopback name on our port counts: people type localhost for 127.0.0.1.
    """
    asked = _triple(origin)
    if asked is None:
        return False
    ours = {_triple(url) for url in (settings.CREW_PUBLIC_URL, *settings.CREW_ALLOWED_ORIGINS)}
    if not settings.PRODUCTION:
        ours |= {("http", host, settings.CREW_PORT) for host in LOOPBACK_HOSTS}
    return asked in ours


def _triple(url: str) -> Triple | None:
    """Scheme, host and port; None for `null`, paths, user names and whatever is not a web address."""
    try:
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.username is not None:
        return None
    return parts.scheme, parts.hostname, port

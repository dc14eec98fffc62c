"""Addresses that carry data out: in their query, path or host labels, or by who answers there. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from crewsite.security.constants import URL_DATA_RUN_CHARS, URL_ENCODED_CHARS
from crewsite.security.credentials import Found, credentials_in

# Services that show whoever opened them what was sent there, and tunnels to someone's own machine.
CAPTURE_HOSTS: Final = frozenset(
    {
        "webhook.site",
        "requestbin.com",
        "requestbin.net",
        "pipedream.net",
        "hookbin.com",
        "beeceptor.com",
        "requestcatcher.com",
        "requestinspector.com",
        "putsreq.com",
        "ptsv2.com",
        "ptsv3.com",
        "webhook-test.com",
        "webhookinbox.com",
        "typedwebhook.tools",
        "postb.in",
        "canarytokens.com",
        "canarytokens.org",
        "interact.sh",
        "interactsh.com",
        "oast.pro",
        "oast.live",
        "oast.site",
        "oast.online",
        "oast.fun",
        "oast.me",
        "burpcollaborator.net",
        "oastify.com",
        "dnslog.cn",
        "ceye.io",
        "ngrok.io",
        "ngrok.app",
        "ngrok.dev",
        "ngrok-free.app",
        "ngrok-free.dev",
        "localtunnel.me",
        "loca.lt",
        "serveo.net",
        "localhost.run",
        "lhr.life",
        "trycloudflare.com",
        "bore.pub",
        "pagekite.me",
        "telebit.io",
    }
)

# One run per address, so the scan is linear. Without a scheme, a bracket, quote or sign must stand before it.
_ADDRESS: Final = re.compile(
    r"(?:(?:[hH][tT][tT][pP][sS]?|[wW][sS][sS]?|[fF][tT][pP][sS]?):|(?<=[(\"'=]))//(?P<rest>[^\s<>\"'`)\]\\]+)"
)
_HOST: Final = re.compile(r"(?:[^/?#@]*@)?(?P<host>[^/?#:@]*)")
_DATA_RUN: Final = re.compile(rf"[A-Za-z0-9+=_-]{{{URL_DATA_RUN_CHARS},}}")
_QUERY_RUN: Final = re.compile(rf"[A-Za-z0-9+/=_-]{{{URL_DATA_RUN_CHARS},}}")
_HOLE: Final = re.compile(r"\{|%7[bB]|=\$[A-Za-z(]|=\[[A-Za-z]")
# What stands before an address that a renderer or a browser opens by itself, or that a person may click.
_LINKS: Final = ("](", "]:", "src=", "href=")
_LINK_CHARS: Final = 12
# Found before the host; they are taken out by themselves and the address stays.
_USER_INFO: Final = frozenset({"basic_auth", "connection_string"})
# A part without dashes this long is no word of a title in an address.
_WORD_CHARS: Final = 20
_SAFE_HOST: Final = re.compile(r"[a-z0-9._-]{1,253}")


class _Parts(NamedTuple):
    host: str
    path: str
    query: str


def exfiltration_urls(text: str, credentials: Sequence[Found]) -> Iterator[tuple[Found, str]]:
    """Suspicious addresses of a plain shadow, each with the host to leave readable.

    `credentials` are those found in the same text.
    """
    if "//" not in text:
        return
    places = iter(sorted(c for c in credentials if c.family not in _USER_INFO))
    place = next(places, None)
    for address in _ADDRESS.finditer(text):
        rest = address["rest"].rstrip(".,;:!?")
        start, end = address.start(), address.start("rest") + len(rest)
        while place and place.end <= start:
            place = next(places, None)
        parts = _split(rest)
        carries = bool(place and place.start < end)
        if carries or _is_suspicious(parts) or (_HOLE.search(parts.query) and _is_linked(text, start)):
            yield Found(start, end, "url"), _readable_host(parts.host)


def _split(rest: str) -> _Parts:
    match = _HOST.match(rest)
    host = match["host"].lower().rstrip(".") if match else ""
    tail = rest[match.end() :] if match else ""
    path, mark, query = tail.partition("?")
    if not mark:
        path, mark, query = tail.partition("#")
    return _Parts(host, path, query)


def _is_suspicious(parts: _Parts) -> bool:
    host, path, query = parts
    labels = host.split(".")
    if any(".".join(labels[-count:]) in CAPTURE_HOSTS for count in (2, 3)):
        return True
    if query.count("%") * 3 > URL_ENCODED_CHARS or path.count("%") > URL_ENCODED_CHARS:
        return True
    return (
        len("".join(labels[:-2])) >= URL_DATA_RUN_CHARS
        or any(_is_data(run[0]) for run in _DATA_RUN.finditer(path))
        or any(_is_data(run[0]) for run in _QUERY_RUN.finditer(query))
    )


def _is_data(run: str) -> bool:
    """A run that words joined by dashes or slashes cannot make: unbroken, or of mixed case with digits."""
    longest = max(len(part) for part in re.split(r"[-_/=+]", run))
    mixed = any(c.isdigit() for c in run) and any(c.isupper() for c in run) and any(c.islower() for c in run)
    return (mixed and longest >= _WORD_CHARS) or longest >= URL_DATA_RUN_CHARS


def _is_linked(text: str, start: int) -> bool:
    before = text[max(0, start - _LINK_CHARS) : start].lower()
    return before.replace(" ", "").rstrip("<\"'").endswith(_LINKS)


@lru_cache(maxsize=256)
def _readable_host(host: str) -> str:
    """The host as it may be shown: labels that could hold data are cut to the registered name."""
    if not _SAFE_HOST.fullmatch(host) or next(credentials_in(host), None):
        return "unreadable"
    labels = host.split(".")
    if len(host) > URL_DATA_RUN_CHARS or any(len(label) >= URL_DATA_RUN_CHARS // 2 for label in labels):
        host = ".".join(labels[-2:])
    return host if len(host) < URL_DATA_RUN_CHARS // 2 else "unreadable"

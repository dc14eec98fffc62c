"""Whose request it is when it comes through a proxy."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

import pytest

from crewsite.checks import production_is_safe
from crewsite.proxies import TrustedProxies
from tests.site import running_site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.site import Site

PRODUCTION = {
    "CREW_ENV": "production",
    "CREW_SECRET_KEY": "k" * 60,
    "CREW_PUBLIC_URL": "https://crew.example.org",
    "CREW_ALLOWED_HOSTS": "crew.example.org",
}
ANONYMOUS_PER_MINUTE = 30


def seen(settings: Any, peer: str, *headers: tuple[str, str], kind: str = "http") -> tuple[str, str]:
    """The client and the scheme that the site behind sees; 10.0.0.0/8 and ::1 are trusted."""
    settings.CREW_TRUSTED_PROXIES = (ip_network("10.0.0.0/8"), ip_network("::1"))
    met: list[Any] = []

    async def site(scope: Any, receive: Any, send: Any) -> None:
        met.append(scope)

    pairs = [(name.encode(), value.encode()) for name, value in headers]
    scheme = "ws" if kind == "websocket" else "http"
    scope = {"type": kind, "client": [peer, 5000], "scheme": scheme, "headers": pairs}
    asyncio.run(TrustedProxies(site)(scope, None, None))
    return met[0]["client"][0], met[0]["scheme"]


FOR, PROTO = "x-forwarded-for", "x-forwarded-proto"


@pytest.mark.parametrize(
    ("peer", "lines", "client"),
    [
        ("10.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", ["198.51.100.1, 203.0.113.7"], "203.0.113.7"),  # the first is what the client claimed
        ("10.0.0.1", ["198.51.100.1, 203.0.113.7, 10.0.0.9"], "203.0.113.7"),
        ("10.0.0.1", ["203.0.113.7", "10.0.0.9"], "203.0.113.7"),
        ("::ffff:10.0.0.1", ["203.0.113.7:4711"], "203.0.113.7"),
        ("::1", ["[2001:db8::7]:4711"], "2001:db8::7"),
        ("10.0.0.1", ["203.0.113.7, nonsense"], "10.0.0.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("203.0.113.50", ["198.51.100.1"], "203.0.113.50"),
        ("", ["198.51.100.1"], ""),
    ],
)
def test_the_client_is_the_last_hop_that_is_no_trusted_proxy(
    settings: Any, peer: str, lines: list[str], client: str
) -> None:
    assert seen(settings, peer, *((FOR, line) for line in lines))[0] == client


def test_the_scheme_is_what_a_trusted_proxy_says(settings: Any) -> None:
    assert seen(settings, "10.0.0.1", (PROTO, "https"))[1] == "https"
    assert seen(settings, "10.0.0.1", (PROTO, "https"), kind="websocket")[1] == "wss"
    assert seen(settings, "10.0.0.1", (PROTO, "https, http"))[1] == "http"
    assert seen(settings, "203.0.113.50", (PROTO, "https"))[1] == "http"


def test_production_refuses_to_trust_everybody_and_warns_of_a_proxy_it_does_not_know(settings: Any) -> None:
    settings.PRODUCTION = True
    settings.CREW_PUBLIC_URL = "https://crew.example.org"
    for trusted, told in (("0.0.0.0/0", "E010"), ("::/0", "E010"), ("", "W001"), ("10.0.0.0/8", "")):
        settings.CREW_TRUSTED_PROXIES = (ip_network(trusted),) if trusted else ()
        ids = {str(found.id).removeprefix("crewsite.") for found in production_is_safe()}
        assert ids & {"E010", "W001"} == ({told} if told else set()), trusted


def answer(site: Site, path: str, *, method: str = "GET", **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(
        site.url + path, method=method, headers={"Host": "crew.example.org", **named}
    )
    try:
        return urllib.request.urlopen(request, timeout=20)
    except urllib.error.HTTPError as refused:
        return refused


def test_behind_a_proxy_https_is_known_and_every_client_has_one_limit_for_all_doors(tmp_path: Path) -> None:
    hsts = "Strict-Transport-Security"
    doors = (("GET", "/api/v1/lessons/"), ("GET", "/v1/models"), ("POST", "/mcp"))
    with running_site(tmp_path, **PRODUCTION, CREW_TRUSTED_PROXIES="127.0.0.1") as site:
        assert answer(site, "/login/", X_Forwarded_Proto="https").headers[hsts]
        assert answer(site, "/login/").headers[hsts] is None
        for method, path in doors * (ANONYMOUS_PER_MINUTE // len(doors)):
            assert answer(site, path, method=method, X_Forwarded_For="203.0.113.7").status == 401
        for method, path in doors:
            refused = answer(site, path, method=method, X_Forwarded_For="203.0.113.7")
            assert (refused.status, 1 <= int(refused.headers["Retry-After"]) <= 60) == (429, True)
            assert answer(site, path, method=method, X_Forwarded_For="203.0.113.8").status == 401

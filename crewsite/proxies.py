"""Who a request is from when it comes through proxies. Only those of `CREW_TRUSTED_PROXIES` are believed:
anybody can write the headers."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

SECURE: Final = {"http": "https", "websocket": "wss"}


class TrustedProxies:
    """An ASGI application in front of the site: gives it the client's address and scheme as a trusted proxy
    tells them, as if the client had come by itself."""

    def __init__(self, site: Any) -> None:
        self.site = site

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        peer = (scope.get("client") or ("",))[0]
        if _is_trusted(_address(peer)):
            scope = {**scope, "client": [_client(peer, _values(scope, b"x-forwarded-for")), 0]}
            # The last is the word of the proxy that asks us; those before may be the client's own.
            if _values(scope, b"x-forwarded-proto")[-1:] == ["https"]:
                scope["scheme"] = SECURE[scope["type"]]
        await self.site(scope, receive, send)


def _client(peer: str, hops: list[str]) -> str:
    """The nearest hop that is no trusted proxy: what stands before it in the header is its own word."""
    while hops and _is_trusted(_address(peer)):
        hop = _address(hops.pop())
        if hop is None:
            break
        peer = str(hop)
    return peer


def _is_trusted(address: IPv4Address | IPv6Address | None) -> bool:
    return address is not None and any(address in network for network in settings.CREW_TRUSTED_PROXIES)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Some proxies add a port; a socket for both families shows IPv4 in IPv6."""
    bare = text[1:].partition("]")[0] if text.startswith("[") else text
    if bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        found = ip_address(bare)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _values(scope: Any, name: bytes) -> list[str]:
    """The parts of a header in their order, however many lines it has."""
    lines = [value.decode("latin1") for key, value in scope.get("headers", ()) if key.lower() == name]
    return [part.strip() for part in ",".join(lines).split(",") if part.strip()]

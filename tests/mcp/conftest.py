"""One running site for all tests of the MCP door, and clients that speak to it."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.site import Site, make_token, running_site


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture(scope="session")
def token(site: Site) -> str:
    return make_token(site, "alice")


@asynccontextmanager
async def over_http(site: Site, token: str, query: str = "", **fields: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(f"{site.url}/mcp{query}", http_client=http)
        async with Client(transport, **fields) as client:
            yield client


@asynccontextmanager
async def over_stdio(site: Site, *words: str, **fields: Any) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "crewsite.cli", "mcp", *words], env=site.environment
    )
    async with Client(stdio_client(server), **fields) as client:
        yield client


CALLERS = """
import json
from datetime import timedelta
from django.utils import timezone
from crewsite.accounts.models import Membership, Role, User, Workspace
from crewsite.accounts.services import token_create
home = Workspace.objects.get(slug="default")
other = Workspace.objects.create(slug="other", name="Other", is_isolated=True)
viewer = User.objects.create_user(username="vera", password="unused")
Membership.objects.create(user=viewer, workspace=home, role=Role.VIEWER)
alice, bob, charlie = (User.objects.get(username=name) for name in ("alice", "bob", "charlie"))
Membership.objects.create(user=alice, workspace=other, role=Role.OWNER)
made = {
    "owner": token_create(user=alice, name="owner", workspace=home),
    "member": token_create(user=bob, name="member"),
    "viewer": token_create(user=viewer, name="viewer"),
    "read-only": token_create(user=alice, name="read-only", scopes=["read"]),
    "write-only": token_create(user=alice, name="write-only", scopes=["write"]),
    "elsewhere": token_create(user=alice, name="elsewhere", workspace=other),
    "stranger": token_create(user=charlie, name="stranger"),
    "expired": token_create(user=alice, name="expired", now=timezone.now() - timedelta(days=100)),
}
print(json.dumps({name: text for name, (_, text) in made.items()}))
"""


@pytest.fixture(scope="session")
def tokens(site: Site) -> dict[str, str]:
    """One token for each kind of caller; anonymous has none."""
    found: dict[str, str] = json.loads(site.run(CALLERS))
    return {**found, "anonymous": ""}


def post(site: Site, token: str, method: str, query: str = "", **more: Any) -> httpx2.Response:
    """One request as it stands on the wire."""
    headers = {"Accept": "application/json, text/event-stream", **more.pop("headers", {})}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": more}
    return httpx2.post(f"{site.url}/mcp{query}", json=body, headers=headers, timeout=30)

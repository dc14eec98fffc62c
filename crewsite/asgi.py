"""The web process: pages, API and admin over HTTP, chat over websockets."""

from __future__ import annotations

import os

os.umask(0o077)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crewsite.settings")

import django  # noqa: E402

django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter  # noqa: E402

from crewsite.mcp.http import McpDoor  # noqa: E402
from crewsite.request_threads import RequestHandler  # noqa: E402
from crewsite.routing import websockets  # noqa: E402
from crewsite.startup import start_serving  # noqa: E402

application = ProtocolTypeRouter({"http": McpDoor(RequestHandler()), "websocket": websockets})
start_serving()

"""The web process: pages, API and admin over HTTP, chat over websockets."""

from __future__ import annotations

import gc
import os

os.umask(0o077)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crewsite.settings")
gc.disable()  # until all is loaded: a seventh of the start is spent looking for garbage in it

import django  # noqa: E402

django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter  # noqa: E402

from crewsite.mcp.http import McpDoor  # noqa: E402
from crewsite.proxies import TrustedProxies  # noqa: E402
from crewsite.request_threads import RequestHandler  # noqa: E402
from crewsite.routing import websockets  # noqa: E402
from crewsite.startup import start_serving  # noqa: E402

application = TrustedProxies(
    ProtocolTypeRouter({"http": McpDoor(RequestHandler()), "websocket": websockets}),
)
gc.freeze()  # what stays as long as the process is not looked through again and again
gc.enable()
start_serving()

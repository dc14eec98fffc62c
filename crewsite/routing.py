"""Websocket routes. Authentication and the origin check wrap them all."""

from __future__ import annotations

from channels.routing import URLRouter

from crewsite.chat.routing import websocket_urlpatterns

websockets = URLRouter(websocket_urlpatterns)

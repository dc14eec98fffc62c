"""Websocket routes. Authentication and the origin check wrap them all."""

from __future__ import annotations

from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import URLRouter
from django.urls import re_path

from crewsite.chat.constants import CLOSE_NOT_FOUND
from crewsite.chat.routing import websocket_urlpatterns as chat_urls
from crewsite.dashboard.routing import websocket_urlpatterns as dashboard_urls


class Nowhere(AsyncWebsocketConsumer):
    """An address that is no socket of ours. Without it the router fails, and anybody fills the log."""

    async def connect(self) -> None:
        await self.accept()
        await self.close(code=CLOSE_NOT_FOUND)


websockets = URLRouter([*chat_urls, *dashboard_urls, re_path(r"", Nowhere.as_asgi())])

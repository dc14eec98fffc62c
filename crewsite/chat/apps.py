from __future__ import annotations

from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "crewsite.chat"
    verbose_name = "Chat"

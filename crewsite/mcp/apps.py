from __future__ import annotations

from django.apps import AppConfig


class McpConfig(AppConfig):
    name = "crewsite.mcp"
    verbose_name = "MCP"

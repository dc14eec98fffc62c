"""Where a write comes from. Services that change memory take one `Origin`; every audit event carries it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import models


class Source(models.TextChoices):
    USER_EXPLICIT = "user_explicit", "A person, explicitly"
    CONSOLIDATION = "consolidation", "Consolidation"
    MIGRATION = "migration", "Migration"
    IMPORT = "import", "Import"
    TASK = "task", "A task"
    API = "api", "API"


class Surface(models.TextChoices):
    WEB = "web", "Web chat"
    SLACK_DM = "slack-dm", "Slack direct message"
    SLACK_CHANNEL = "slack-channel", "Slack channel"
    API = "api", "API"
    MCP = "mcp", "MCP"
    CLI = "cli", "Command line"
    ADMIN = "admin", "Admin"
    IMPORT = "import", "Import"
    TASK = "task", "Background task"


@dataclass(frozen=True, slots=True)
class Origin:
    """Provenance of one write: who (`actor`, a user name), through which door, from which conversation."""

    source: Source
    surface: Surface = Surface.CLI
    actor: str = ""
    conversation_id: UUID | None = None

    @property
    def is_explicit(self) -> bool:
        return self.source == Source.USER_EXPLICIT
